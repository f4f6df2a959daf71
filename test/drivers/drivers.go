// What docs/clients.md says of database/sql, tried with lib/pq on the database
// of PGHOST and so on, and of clients/go.  Prints the Test Anything Protocol.
//
// Debian's lib/pq is in GOPATH=/usr/share/gocode; test/tap/drivers.pl says
// how to run this.
package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	bloomtype "example.org/OWNER/bloomtype/clients/go"
	"github.com/lib/pq"
)

var number, failures int

func check(ok bool, text string, got ...any) {
	number++
	result := "ok"
	if !ok {
		result = "not ok"
		failures++
	}
	fmt.Println(result, number, "-", text)
	if !ok {
		fmt.Println("#", got)
	}
}

func main() {
	db, err := sql.Open("postgres", "sslmode=disable")
	if err != nil {
		fmt.Println("Bail out!", err)
		os.Exit(1)
	}
	yes := func(text, query string, args ...any) {
		var got bool
		err := db.QueryRow(query, args...).Scan(&got)
		check(err == nil && got, "database/sql: "+text, got, err)
	}
	yes("text", "SELECT urls @> $1 FROM visited", "https://example.org/1")
	yes("bigint", "SELECT ids @> $1::bigint FROM visited", 42)
	yes("list", "SELECT bloom_missing(ids, $1::bigint[]) = '{5000}' FROM visited", pq.Array([]int64{1, 5000}))
	_, err = db.Exec("SELECT ids @> $1 FROM visited", "42")
	var refused *pq.Error
	check(errors.As(err, &refused) && refused.Code == "42804", "database/sql: a text is no bigint", err)

	receive := func() int64 {
		result, err := db.Exec("INSERT INTO activity SELECT $1, $2 WHERE bloom_set_add('received', $1)", "database/sql", "x")
		if err != nil {
			return -1
		}
		n, _ := result.RowsAffected()
		return n
	}
	first, second := receive(), receive()
	check(first == 1 && second == 0, "database/sql: stored if new", first, second)
	yes("a list given to bloom_set_add is one text", "SELECT bloom_set_add('received', $1)", pq.Array([]string{"g1", "g2"}))
	yes("... which is there now", `SELECT NOT bloom_set_add('received', '{"g1","g2"}')`)
	yes("a list given to bloom_set_add_all", "SELECT bloom_set_add_all('received', $1::text[]) = '{g1,g2}'", pq.Array([]string{"g1", "g2"}))

	var urls, same, times bloomtype.Filter
	err = db.QueryRow("SELECT urls, urls::bytea, times FROM visited").Scan(&urls, &same, &times)
	check(err == nil && urls.Equal(&same), "database/sql: a column of type bloom is scanned, and its bytes are", err)
	found, err := urls.Contains(bloomtype.Text("https://example.org/1"))
	check(found && err == nil, "clients/go: a key of the server", err)
	found, err = urls.Contains(bloomtype.Text("https://example.org/x"))
	check(!found && err == nil, "clients/go: another key", err)
	_, err = urls.Contains(bloomtype.Integer(42))
	check(errors.Is(err, bloomtype.ErrKeyType), "clients/go: a key of another type", err)
	var at time.Time
	err = db.QueryRow("SELECT timestamptz '2026-11-21 00:00:01+00'").Scan(&at)
	found, wrong := times.Contains(bloomtype.Timestamptz(at))
	check(found && err == nil && wrong == nil, "clients/go: a time that was scanned", err, wrong)

	builder, _ := bloomtype.NewBuilder(bloomtype.Options{Capacity: 1000})
	for id := 1; id <= 1000; id++ {
		builder.Add(bloomtype.Integer(id))
	}
	ids := builder.Filter()
	data, _ := ids.MarshalBinary()
	yes("a filter is a parameter", "SELECT $1::bloom = ids FROM visited", ids)
	yes("its bytes are", "SELECT $1::bytea::bloom = ids FROM visited", data)

	var none *bloomtype.Filter
	err = db.QueryRow("SELECT null::bloom").Scan(&none)
	check(err == nil && none == nil, "database/sql: null is a nil *Filter", err)
	yes("a nil *Filter is null", "SELECT $1::bloom IS NULL", none)
	check(db.QueryRow("SELECT null::bloom").Scan(&urls) != nil, "database/sql: a Filter cannot be null")

	fmt.Printf("1..%d\n", number)
	if failures > 0 {
		os.Exit(1)
	}
}
