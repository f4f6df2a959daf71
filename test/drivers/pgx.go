//go:build ignore

// What docs/clients.md says of pgx without database/sql, tried with pgx 4 on the
// database of PGHOST and so on, and of clients/go.  Prints the Test Anything
// Protocol.  test/tap/drivers.pl says how to run this.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	bloomtype "example.org/OWNER/bloomtype/clients/go"
	"github.com/jackc/pgconn"
	"github.com/jackc/pgx/v4"
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
	ctx := context.Background()
	con, err := pgx.Connect(ctx, "sslmode=disable")
	if err != nil {
		fmt.Println("Bail out!", err)
		os.Exit(1)
	}
	yes := func(text, query string, args ...any) {
		var got bool
		err := con.QueryRow(ctx, query, args...).Scan(&got)
		check(err == nil && got, "pgx: "+text, got, err)
	}
	yes("text", "SELECT urls @> $1 FROM visited", "https://example.org/1")
	yes("bigint", "SELECT ids @> $1::bigint FROM visited", 42)
	yes("list", "SELECT bloom_missing(ids, $1::bigint[]) = '{5000}' FROM visited", []int64{1, 5000})
	var refused *pgconn.PgError
	_, err = con.Exec(ctx, "SELECT ids @> $1 FROM visited", "42")
	check(errors.As(err, &refused) && refused.Code == "42804", "pgx: a text is no bigint", err)

	receive := func() int64 {
		tag, err := con.Exec(ctx, "INSERT INTO activity SELECT $1, $2 WHERE bloom_set_add('received', $1)", "pgx", "x")
		if err != nil {
			return -1
		}
		return tag.RowsAffected()
	}
	first, second := receive(), receive()
	check(first == 1 && second == 0, "pgx: stored if new", first, second)
	err = con.QueryRow(ctx, "SELECT bloom_set_add('received', $1)", []string{"h1", "h2"}).Scan(new(bool))
	check(err != nil, "pgx: a list given to bloom_set_add is an error", err)
	yes("a list given to bloom_set_add_all", "SELECT bloom_set_add_all('received', $1::text[]) = '{h1,h2}'", []string{"h1", "h2"})

	var urls, same bloomtype.Filter
	var bytes []byte
	err = con.QueryRow(ctx, "SELECT urls, urls::bytea FROM visited").Scan(&urls, &bytes)
	check(err == nil && same.UnmarshalBinary(bytes) == nil && urls.Equal(&same), "pgx: a column of type bloom is scanned", err)

	builder, _ := bloomtype.NewBuilder(bloomtype.Options{Capacity: 1000})
	for id := 1; id <= 1000; id++ {
		builder.Add(bloomtype.Integer(id))
	}
	ids := builder.Filter()
	data, _ := ids.MarshalBinary()
	yes("a filter is a parameter", "SELECT $1::bloom = ids FROM visited", ids)
	yes("its bytes are", "SELECT $1::bytea::bloom = ids FROM visited", data)

	fmt.Printf("1..%d\n", number)
	if failures > 0 {
		os.Exit(1)
	}
}
