package bloomtype

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The tests need ../vectors.json.  With BLOOMTYPE_SERVER, the name of a folder
// that test/tap/clients.pl makes, they also compare with a server.

type vectors struct {
	Hashes []struct {
		vectorKey
		Seed        string
		Hash        string
		KeyType     uint32 `json:"key_type"`
		KeyTypeName string `json:"key_type_name"`
	}
	Lengths []struct {
		Length     int
		Seed, Hash string
	}
	Positions []struct {
		Hash      string
		Bits      uint64
		Hashes    int
		Positions []uint64
	}
	Sizes []struct {
		Capacity string
		FPProb   float64 `json:"fp_prob"`
		Bits     int64
		Hashes   int
	}
	Filters []struct {
		SQL, Bytes, Form, Seed, Capacity, Count string
		Bits                                    int64
		Hashes                                  int
		FPProb                                  float64 `json:"fp_prob"`
		KeyType                                 uint32  `json:"key_type"`
		KeyTypeName                             string  `json:"key_type_name"`
		Keys, Others                            []vectorKey
	}
	Counting  []struct{ Bytes string }
	Malformed []struct{ Bytes, Reason string }
	Text      []struct{ Text, Reason string } `json:"malformed_text"`
}

type vectorKey struct {
	Type, Key, Bytes string
	Contains         bool
}

func read(t testing.TB) (v vectors) {
	data, err := os.ReadFile("../vectors.json")
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func unhex(t *testing.T, s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func number(t *testing.T, s string, base int) uint64 {
	if v, err := strconv.ParseInt(s, base, 64); err == nil {
		return uint64(v)
	}
	v, err := strconv.ParseUint(s, base, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// key makes a key of the text of a vector; false, if this package has none of
// its type.
func (v vectorKey) key(t *testing.T) (Key, bool) {
	infinite := map[string]int64{"infinity": math.MaxInt64, "-infinity": math.MinInt64}[v.Key]
	when := func(layout string) time.Time {
		at, err := time.Parse(layout, v.Key)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	switch v.Type {
	case "int2", "int4", "int8":
		return Integer(int64(number(t, v.Key, 10))), true
	case "text", "varchar", "name", "char(9)":
		return Text(v.Key), true
	case "bytea":
		return Bytea(unhex(t, v.Key[2:])), true
	case "bool":
		return Boolean(v.Key == "true"), true
	case "float4", "float8":
		f, err := strconv.ParseFloat(v.Key, 64)
		if err != nil {
			t.Fatal(err)
		}
		if v.Type == "float4" {
			return Float(float32(f)), true
		}
		return Float(f), true
	case "uuid":
		return UUID(*(*[16]byte)(unhex(t, strings.ReplaceAll(v.Key, "-", "")))), true
	case "date":
		if infinite != 0 {
			return DateOfDays(int32(infinite >> 32)), true
		}
		return Date(when("2006-01-02")), true
	case "timestamp":
		if infinite != 0 {
			return TimestampOfMicroseconds(infinite), true
		}
		return Timestamp(when("2006-01-02 15:04:05")), true
	case "timestamptz":
		if infinite != 0 {
			return TimestamptzOfMicroseconds(infinite), true
		}
		return Timestamptz(when("2006-01-02 15:04:05-07")), true
	}
	return Key{}, false
}

func TestHashes(t *testing.T) {
	made := map[string]int{}
	for _, v := range read(t).Hashes {
		seed := number(t, v.Seed, 10)
		want := number(t, v.Hash, 16)
		if h := xxh3(unhex(t, v.Bytes), seed); h != want {
			t.Errorf("%s %s: the bytes have the hash %016x", v.Type, v.Key, h)
		}
		if v.KeyTypeName != "" && uint32(xxh3(v.KeyTypeName, 0))|named != v.KeyType {
			t.Errorf("%s: another number", v.KeyTypeName)
		}
		if key, ok := v.key(t); ok {
			made[v.Type]++
			if h := key.hash(seed); h != want || key.number != v.KeyType {
				t.Errorf("%s %s: the key has the hash %016x and the type %d", v.Type, v.Key, h, key.number)
			}
		}
	}
	for _, name := range strings.Fields("int2 int4 int8 text varchar bytea bool float8 uuid date timestamp timestamptz") {
		if made[name] == 0 {
			t.Errorf("no key of type %s was tested", name)
		}
	}
}

func TestLengths(t *testing.T) {
	for _, v := range read(t).Lengths {
		text := strings.Repeat("bloom", v.Length/5+1)[:v.Length]
		seed := number(t, v.Seed, 10)
		want := number(t, v.Hash, 16)
		if xxh3(text, seed) != want || xxh3([]byte(text), seed) != want {
			t.Errorf("%d bytes, seed %s", v.Length, v.Seed)
		}
	}
}

func TestPositions(t *testing.T) {
	for _, v := range read(t).Positions {
		h := number(t, v.Hash, 16)
		data := make([]byte, v.Bits/8)
		setBits(data, v.Bits, v.Hashes, h)
		for _, p := range v.Positions {
			if data[p/8]>>(p%8)&1 == 0 {
				t.Errorf("bit %d of %d is not set", p, v.Bits)
			}
			data[p/8] &^= 1 << (p % 8)
			if testBits(data, v.Bits, v.Hashes, h) {
				t.Errorf("bit %d of %d is not tested", p, v.Bits)
			}
			data[p/8] |= 1 << (p % 8)
		}
		distinct := map[uint64]bool{}
		for _, p := range v.Positions {
			distinct[p] = true
		}
		if countBits(data) != uint64(len(distinct)) {
			t.Errorf("%d bits are set", countBits(data))
		}
	}
}

func TestSizes(t *testing.T) {
	for _, v := range read(t).Sizes {
		b, err := NewBuilder(Options{Capacity: int64(number(t, v.Capacity, 10)), FPProb: v.FPProb})
		if err != nil {
			t.Error(err)
		} else if info := b.Filter().Info(); info.Bits != v.Bits || info.Hashes != v.Hashes {
			t.Errorf("capacity %s, fp_prob %g: %+v", v.Capacity, v.FPProb, info)
		}
	}
	for _, o := range []Options{{}, {Capacity: -1}, {Capacity: 1 << 53}, {Capacity: 429496730},
		{Capacity: 1, FPProb: 1}, {Capacity: 1, FPProb: -1}, {Capacity: 1, FPProb: 4e-14},
		{Capacity: 1, FPProb: math.NaN()}} {
		if _, err := NewBuilder(o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

func TestFilters(t *testing.T) {
	built := 0
	for _, v := range read(t).Filters {
		data := unhex(t, v.Bytes)
		f, err := FromBytes(data)
		if err != nil {
			t.Errorf("%s: %v", v.SQL, err)
			continue
		}
		again, _ := f.MarshalBinary()
		info := f.Info()
		if !bytes.Equal(again, data) || info.Bytes != len(data) {
			t.Errorf("%s is written differently", v.SQL)
		}
		if info.Bits != v.Bits || info.Hashes != v.Hashes || info.Form != v.Form ||
			info.Seed != int64(number(t, v.Seed, 10)) || info.FPProb != v.FPProb ||
			info.Capacity != int64(number(t, v.Capacity, 10)) || f.count != number(t, v.Count, 10) ||
			info.KeyType != (KeyType{v.KeyType, v.KeyTypeName}) {
			t.Errorf("%s: %+v", v.SQL, info)
		}

		// The vector's keys, made here, make the vector's filter.
		b, err := NewBuilderFrom(&Filter{shape: f.shape})
		same := err == nil && len(v.Keys) > 0 && v.SQL != ""
		for _, k := range v.Keys {
			h := xxh3(unhex(t, k.Bytes), f.seed)
			if !f.test(h) {
				t.Errorf("%s does not contain %s", v.SQL, k.Key)
			}
			key, ok := k.key(t)
			same = same && ok && b.Add(key) == nil
			if ok {
				if found, err := f.Contains(key); err != nil || !found {
					t.Errorf("%s does not contain %s: %v", v.SQL, k.Key, err)
				}
			}
		}
		if same {
			built++
			if !b.Filter().Equal(f) {
				t.Errorf("%s is built differently", v.SQL)
			}
		}
		for _, k := range v.Others {
			if key, ok := k.key(t); ok {
				if found, err := f.Contains(key); err != nil || found != k.Contains {
					t.Errorf("%s: %s: %v, %v", v.SQL, k.Key, found, err)
				}
			} else if f.words > 0 && f.test(xxh3(unhex(t, k.Bytes), f.seed)) != k.Contains {
				t.Errorf("%s: %s", v.SQL, k.Key)
			}
		}
	}
	if built < 8 {
		t.Errorf("only %d filters were built", built)
	}
}

func TestMalformed(t *testing.T) {
	v := read(t)
	for _, m := range v.Malformed {
		_, err := FromBytes(unhex(t, m.Bytes))
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v: %s", m.Reason, err, m.Bytes)
		}
	}
	for _, c := range v.Counting {
		if _, err := FromBytes(unhex(t, c.Bytes)); !errors.Is(err, ErrFormat) {
			t.Error("a counting_bloom:", err)
		}
	}
	for _, m := range v.Text {
		if err := new(Filter).UnmarshalText([]byte(m.Text)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v: %q", m.Reason, err, m.Text)
		}
	}
	f, _ := FromBytes(unhex(t, v.Filters[4].Bytes))
	data, _ := f.MarshalBinary()
	for i := range data {
		for bit := 0; bit < 8; bit++ {
			bad := append([]byte(nil), data...)
			bad[i] ^= 1 << bit
			if g, err := FromBytes(bad); err == nil {
				if again, _ := g.MarshalBinary(); !bytes.Equal(again, bad) {
					t.Errorf("bit %d of byte %d", bit, i)
				}
			}
		}
		if _, err := FromBytes(data[:i]); err == nil {
			t.Errorf("%d bytes are accepted", i)
		}
	}
}

func filled(t *testing.T, o Options, from, to int) *Filter {
	b, err := NewBuilder(o)
	if err != nil {
		t.Fatal(err)
	}
	for i := from; i < to; i++ {
		if err := b.Add(Integer(i)); err != nil {
			t.Fatal(err)
		}
	}
	return b.Filter()
}

func TestCharacterZero(t *testing.T) {
	b, _ := NewBuilder(Options{Capacity: 100})
	for _, before := range []string{"", "a"} {
		if err := b.Add(Text(before + "\x00b")); err == nil {
			t.Error("added a text with a character 0")
		}
		if found, err := b.Filter().Contains(Text(before + "\x00b")); found || err == nil {
			t.Error("tested a text with a character 0", found)
		}
		if err := b.Add(Text("a")); err != nil {
			t.Error(err)
		}
	}
}

func TestErrors(t *testing.T) {
	f := filled(t, Options{Capacity: 100}, 0, 10)
	for _, k := range []Key{Text("5"), Bytea([]byte{5}), Float(5.0), Boolean(true), UUID([16]byte{}),
		Date(time.Now()), {}} {
		if _, err := f.Contains(k); !errors.Is(err, ErrKeyType) {
			t.Error(k, err)
		}
		b, _ := NewBuilderFrom(f)
		if err := b.Add(k); !errors.Is(err, ErrKeyType) || !b.Filter().Equal(f) {
			t.Error(k, err)
		}
	}
	second := time.Date(2026, 11, 20, 12, 34, 56, 0, time.UTC)
	for _, k := range []Key{Timestamp(second.Add(1)), Timestamptz(second.Add(999)),
		Date(time.Date(6000000, 1, 1, 0, 0, 0, 0, time.UTC)),
		Timestamp(time.Date(300000, 1, 1, 0, 0, 0, 0, time.UTC)),
		Timestamptz(time.Date(-300000, 1, 1, 0, 0, 0, 0, time.UTC))} {
		if _, err := filled(t, Options{Capacity: 1}, 0, 0).Contains(k); err == nil {
			t.Error(k, "is accepted")
		}
	}
	if _, err := NewBuilderFrom(new(Filter)); !errors.Is(err, ErrShape) {
		t.Error(err)
	}
	if _, err := Union(f, filled(t, Options{Capacity: 200}, 0, 10)); !errors.Is(err, ErrShape) {
		t.Error(err)
	}
	b, _ := NewBuilder(Options{Capacity: 100, KeyType: TextKeys})
	for _, combine := range []func(a, b *Filter) (*Filter, error){Union, Intersect} {
		if _, err := combine(f, b.Filter()); !errors.Is(err, ErrKeyType) {
			t.Error(err)
		}
	}
	if found, err := b.Filter().Contains(Integer(1)); found || !errors.Is(err, ErrKeyType) {
		t.Error(found, err)
	}
	// the zone decides the time of a timestamp, but not of a timestamptz
	zone := second.In(time.FixedZone("", 3600))
	if Timestamptz(zone).word != Timestamptz(second).word ||
		Timestamp(zone).word != Timestamp(second.Add(time.Hour)).word {
		t.Error("zones")
	}
}

func TestUnion(t *testing.T) {
	for _, capacity := range []int64{10, 1000, 5000} {
		o := Options{Capacity: capacity, FPProb: 0.001, Seed: -3}
		for _, n := range []int{0, 1, 20, 200, 1500} {
			a, b, both := filled(t, o, 0, n), filled(t, o, n/2, n*2), filled(t, o, 0, n*2)
			for _, ab := range [][2]*Filter{{a, b}, {b, a}} {
				u, err := Union(ab[0], ab[1])
				if err != nil || !u.Equal(both) {
					t.Error(capacity, n, err, u.Info(), both.Info())
				}
				x, err := Intersect(ab[0], ab[1])
				if err != nil {
					t.Error(err)
				}
				for i := n / 2; i < n; i++ {
					if found, err := x.Contains(Integer(i)); err != nil || !found {
						t.Error(capacity, n, i, err)
					}
				}
				data, _ := x.MarshalBinary()
				if _, err := FromBytes(data); err != nil {
					t.Error(err)
				}
			}
			for _, f := range []*Filter{a, b} {
				u1, _ := Union(f, new(Filter))
				u2, _ := Union(new(Filter), f)
				if u1 != f || u2 != f {
					t.Error("the filter without a shape")
				}
			}
		}
	}
	a, b := filled(t, Options{Capacity: 11, FPProb: 0.01}, 0, 1), filled(t, Options{Capacity: 12, FPProb: 0.009431}, 0, 1)
	u, err := Union(a, b)
	if err != nil || u.Info().Capacity != 12 || u.Info().FPProb != 0.009431 {
		t.Error(u, err)
	}
}

func TestScan(t *testing.T) {
	f := filled(t, Options{Capacity: 100}, 0, 10)
	data, _ := f.MarshalBinary()
	value, _ := f.Value()
	text := value.(string)
	for _, src := range []any{data, text, []byte(text), text[:76] + "\n" + text[76:]} {
		var g Filter
		if err := g.Scan(src); err != nil || !g.Equal(f) {
			t.Error(src, err)
		}
	}
	for _, src := range []any{nil, 5, "", []byte{}, "AQEF*", data[:50]} {
		if err := new(Filter).Scan(src); !errors.Is(err, ErrFormat) {
			t.Error(src, err)
		}
	}
	data[0] = 2
	if !f.Equal(filled(t, Options{Capacity: 100}, 0, 10)) {
		t.Error("a filter shares its bytes")
	}
}

// ----------------------------------------------------------------
// Against a server
// ----------------------------------------------------------------

func server(t *testing.T, name string) []byte {
	folder := os.Getenv("BLOOMTYPE_SERVER")
	if folder == "" {
		t.Skip("BLOOMTYPE_SERVER is not set")
	}
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Lines of "accepted" or "refused" and a file.
func TestVerdicts(t *testing.T) {
	verdicts := strings.Split(strings.TrimSpace(string(server(t, "verdicts"))), "\n")
	for _, line := range verdicts {
		verdict, file, _ := strings.Cut(line, " ")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := FromBytes(data)
		if (err == nil) != (verdict == "accepted") {
			t.Errorf("%s: %v", line, err)
		}
		if err == nil {
			if again, _ := f.MarshalBinary(); !bytes.Equal(again, data) {
				t.Errorf("%s is written differently", file)
			}
		}
	}
	t.Logf("%d files", len(verdicts))
}

// Each of the server's filters has the URLs, and is what is built of them here.
func TestURLs(t *testing.T) {
	urls := strings.Split(strings.TrimSuffix(string(server(t, "urls")), "\n"), "\n")
	files, _ := filepath.Glob(filepath.Join(os.Getenv("BLOOMTYPE_SERVER"), "*.bloom"))
	if len(files) == 0 {
		t.Fatal("no filters")
	}
	for _, file := range files {
		want := server(t, filepath.Base(file))
		f, err := FromBytes(want)
		if err != nil {
			t.Fatal(err)
		}
		info := f.Info()
		b, err := NewBuilder(Options{Capacity: info.Capacity, FPProb: info.FPProb, Seed: info.Seed})
		if err != nil {
			t.Fatal(err)
		}
		for _, url := range urls {
			if found, err := f.Contains(Text(url)); err != nil || !found {
				t.Error(file, url, err)
			}
			if err := b.Add(Text(url)); err != nil {
				t.Error(err)
			}
		}
		if got, _ := b.Filter().MarshalBinary(); !bytes.Equal(got, want) {
			t.Errorf("%s is built differently", file)
		}
	}
	t.Logf("%d URLs, %d filters", len(urls), len(files))
}

// More keys than the capacity are an error, if asked for, with the rate.
func TestFull(t *testing.T) {
	for _, c := range []struct {
		capacity, n     int64
		isOverfull, err bool
	}{{1000, 0, false, false}, {1000, 1000, false, false}, {2, 5, false, false}, {10, 1000, true, true}, {1000, 1100, true, true}} {
		builder, err := NewBuilder(Options{Capacity: c.capacity})
		if err != nil {
			t.Fatal(err)
		}
		for i := int64(0); i < c.n; i++ {
			if err := builder.Add(Integer(i)); err != nil {
				t.Fatal(err)
			}
		}
		f, err := builder.Filter(), builder.Err()
		if f.IsOverfull() != c.isOverfull || errors.Is(err, ErrOverfull) != c.err {
			t.Error(c, f.IsOverfull(), err)
		}
		if now := fmt.Sprintf("where it is %d; the false-positive rate is now %.3g, not 0.01", c.capacity, f.FPProbNow()); err != nil && !strings.HasSuffix(err.Error(), now) {
			t.Error(err, now)
		}
	}
}

// Lines of a filter, and whether it is full.
func TestFullByServer(t *testing.T) {
	for _, line := range strings.Split(strings.TrimSpace(string(server(t, "full"))), "\n") {
		fields := strings.Fields(line)
		if f, err := FromBytes(unhex(t, fields[0])); err != nil || f.IsOverfull() != (fields[1] == "t") {
			t.Error(line, err)
		}
	}
}

// Lines of two filters, their union and their intersection.
func TestCombined(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(string(server(t, "combined"))), "\n")
	for _, line := range lines {
		var f [4]*Filter
		for i, field := range strings.Fields(line) {
			var err error
			if f[i], err = FromBytes(unhex(t, field)); err != nil {
				t.Fatal(err)
			}
		}
		for i, combine := range []func(a, b *Filter) (*Filter, error){Union, Intersect} {
			if got, err := combine(f[0], f[1]); err != nil || !got.Equal(f[2+i]) {
				t.Error(line, got, err)
			}
		}
	}
	t.Logf("%d pairs", len(lines))
}

func ExampleFilter_Contains() {
	b, _ := NewBuilder(Options{Capacity: 1000, FPProb: 0.001})
	b.Add(Text("https://example.org/"))
	f := b.Filter()
	fmt.Println(f.Contains(Text("https://example.org/")))
	fmt.Println(f.Contains(Text("https://example.org/a")))
	fmt.Println(f.Contains(Integer(5)))
	// Output:
	// true <nil>
	// false <nil>
	// false bloomtype: key type mismatch: a key of type bigint, where the filter holds keys of type text
}

// ----------------------------------------------------------------
// Benchmark
// ----------------------------------------------------------------

// BenchmarkInteger prints the time of a hash and of a test of the same keys, in
// a filter of a million keys, of which half are there: the best of many rounds,
// since other programs only ever add to it.
func BenchmarkInteger(b *testing.B) {
	const n, step = 1000000, 100000
	builder, _ := NewBuilder(Options{Capacity: n})
	for i := 0; i < n; i++ {
		builder.Add(Integer(i))
	}
	f := builder.Filter()
	sum, found := uint64(0), 0
	best := func(best *time.Duration, work func(k int)) {
		for from := 0; from < 2*n; from += step {
			start := time.Now()
			work(from)
			if took := time.Since(start); *best == 0 || took < *best {
				*best = took
			}
		}
	}
	var hash, in, out time.Duration
	for i := 0; i < b.N; i++ {
		best(&hash, func(from int) {
			for k := from; k < from+step; k++ {
				sum += Integer(k).hash(f.seed)
			}
		})
		test := func(from int) {
			for k := from; k < from+step; k++ {
				if yes, _ := f.Contains(Integer(k)); yes {
					found++
				}
			}
		}
		best(&in, func(from int) { test(from % n) })
		best(&out, func(from int) { test(from%n + n) })
	}
	if sum == 0 || found < b.N*n {
		b.Fatal(found)
	}
	b.ReportMetric(float64(hash)/step, "ns/hash")
	b.ReportMetric(float64(in)/step, "ns/present")
	b.ReportMetric(float64(out)/step, "ns/absent")
	b.ReportMetric(float64(in+out)/2/float64(hash), "ratio")
}
