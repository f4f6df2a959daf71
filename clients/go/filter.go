// Package bloomtype reads, tests, builds and combines the Bloom filters of
// bloomtype, an extension of PostgreSQL, without a server.
//
// A filter answers "certainly not" or "probably": Contains is never false for a
// key that was added.  Equal sets of keys make equal bytes, here and in the
// server.
package bloomtype

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sort"
	"unicode/utf8"
)

// ErrFormat is the error of bytes that are not a filter.
var ErrFormat = errors.New("bloomtype: not a filter")

// ErrShape is the error of filters that cannot be combined, since their bits,
// hashes or seeds differ, and of keys for a filter without a shape.
var ErrShape = errors.New("bloomtype: shape mismatch")

// ErrOverfull is the error of more keys than the capacity: see Builder.Err.
var ErrOverfull = errors.New("bloomtype: more keys than the capacity")

const (
	version    = 1
	keysForm   = 1
	bitsForm   = 2
	counting   = 16 // in the forms of a counting_bloom
	headerSize = 44
	maxWords   = 1 << 26
	maxHashes  = 64
	maxBuiltin = 10000   // built-in types have smaller OIDs
	named      = 1 << 31 // the smallest number of a key type with a name
	maxName    = 128     // in 8 bytes

	multiplier = 0xd1342543de82ef95
	increment  = 0x2545f4914f6cdd1d
)

// Filter is a value of type bloom.  Only Scan and the Unmarshal methods change
// it; apart from those, it can be used by several goroutines at once.  The zero
// Filter is the filter without a shape, which bloom_agg makes of no rows.
type Filter struct {
	shape
	keyType KeyType
	count   uint64   // of keys, or of bits set
	keys    []uint64 // keys form: their hashes, ascending
	bits    []byte   // bits form; nil in keys form
}

type shape struct {
	words    uint64 // size in bits, divided by 64
	hashes   int
	seed     uint64
	capacity uint64
	fpProb   float64
}

// Info is what a filter tells about itself, as bloom_info does.
type Info struct {
	KeyType   KeyType
	Bits      int64
	Hashes    int
	Seed      int64
	Capacity  int64
	FPProb    float64 // as requested
	Keys      float64 // about how many distinct keys were added
	FPProbNow float64
	Form      string // "keys" or "bits"
	Bytes     int    // as MarshalBinary returns them
}

// FromBytes reads the bytes of filter::bytea.
func FromBytes(data []byte) (*Filter, error) {
	f := new(Filter)
	if err := f.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	return f, nil
}

// UnmarshalBinary reads the bytes of filter::bytea.  It refuses what the server
// refuses.
func (f *Filter) UnmarshalBinary(data []byte) error {
	read, wrong := decode(data)
	if wrong != "" {
		return fmt.Errorf("%w: %s", ErrFormat, wrong)
	}
	*f = *read
	return nil
}

// UnmarshalText reads the text form of a filter, base64.
func (f *Filter) UnmarshalText(text []byte) error {
	compact := bytes.Map(func(r rune) rune {
		switch r {
		case ' ', '\t', '\n', '\r':
			return -1
		}
		return r
	}, text)
	data := make([]byte, base64.StdEncoding.DecodedLen(len(compact)))
	n, err := base64.StdEncoding.Strict().Decode(data, compact)
	if err != nil {
		return fmt.Errorf("%w: it is not base64", ErrFormat)
	}
	return f.UnmarshalBinary(data[:n])
}

// decode returns a filter, or what is wrong.
func decode(data []byte) (*Filter, string) {
	if len(data) < headerSize {
		return nil, "there are fewer bytes than a header has"
	}
	form := data[1]
	nameSize := int(data[3]) * 8
	number := binary.LittleEndian.Uint32(data[4:])
	f := &Filter{
		shape: shape{
			words:    uint64(binary.LittleEndian.Uint32(data[8:])),
			hashes:   int(data[2]),
			seed:     binary.LittleEndian.Uint64(data[12:]),
			capacity: binary.LittleEndian.Uint64(data[20:]),
			fpProb:   math.Float64frombits(binary.LittleEndian.Uint64(data[28:])),
		},
		keyType: KeyType{number: number},
		count:   binary.LittleEndian.Uint64(data[36:]),
	}

	switch {
	case data[0] != version:
		return nil, "the version is unknown"
	case form == counting|keysForm || form == counting|bitsForm:
		return nil, "it is a counting_bloom"
	case form != keysForm && form != bitsForm:
		return nil, "the representation is unknown"
	case number >= maxBuiltin && number < named:
		return nil, "the key type is not a built-in type"
	case (number >= named) != (nameSize > 0) || nameSize > maxName*8:
		return nil, "the name of the key type has a wrong size"
	case f.words == 0:
		if f.hashes != 0 || f.seed != 0 || f.capacity != 0 || math.Float64bits(f.fpProb) != 0 ||
			number != 0 || f.count != 0 || form != keysForm {
			return nil, "a filter without a shape is not all zero"
		}
	case f.words > maxWords:
		return nil, "the number of bits is out of range"
	case f.hashes < 1 || f.hashes > maxHashes:
		return nil, "the number of hashes is out of range"
	case f.capacity < 1 || f.capacity > math.MaxInt64:
		return nil, "the capacity is out of range"
	case !(f.fpProb > 0 && f.fpProb < 1):
		return nil, "the fp_prob is out of range"
	case f.count > 0 && number == 0:
		return nil, "there are keys, but no key type"
	case form == keysForm && f.count >= f.words:
		return nil, "there are too many keys for the keys form"
	case form == bitsForm && f.count == 0:
		return nil, "no bit is set in the bits form"
	}

	size := 8 * f.words
	if form == keysForm {
		size = 8 * f.count
	}
	if uint64(len(data)-headerSize) != uint64(nameSize)+size {
		return nil, "the number of bytes does not match the header"
	}
	if nameSize > 0 {
		var wrong string
		if f.keyType.name, wrong = decodeName(data[headerSize:headerSize+nameSize], number); wrong != "" {
			return nil, wrong
		}
	}

	content := data[headerSize+nameSize:]
	if form == bitsForm {
		f.bits = append([]byte(nil), content...)
		if countBits(f.bits) != f.count {
			return nil, "the number of bits set does not match"
		}
		return f, ""
	}
	f.keys = make([]uint64, f.count)
	previous := uint64(0)
	for i := range f.keys {
		f.keys[i] = binary.LittleEndian.Uint64(content[8*i:])
		if f.keys[i] <= previous {
			return nil, "the keys are not ascending"
		}
		previous = f.keys[i]
	}
	return f, ""
}

// decodeName returns the name of a key type, without its padding, or what is
// wrong.
func decodeName(padded []byte, number uint32) (string, string) {
	name := bytes.TrimRight(padded, "\x00")
	if len(padded)-len(name) >= 8 {
		return "", "the name of the key type has a wrong size"
	}
	if !utf8.Valid(name) {
		return "", "the name of the key type is not UTF-8"
	}
	for _, c := range name {
		if c < ' ' || c == 0x7f {
			return "", "the name of the key type has a control character"
		}
	}
	if uint32(xxh3(name, 0))|named != number {
		return "", "the number of the key type does not match its name"
	}
	return string(name), ""
}

// MarshalBinary returns the bytes that the server reads as $1::bytea::bloom.
func (f *Filter) MarshalBinary() ([]byte, error) {
	nameSize := (len(f.keyType.name) + 7) / 8 * 8
	data := make([]byte, headerSize+nameSize, f.size())
	data[0] = version
	data[1] = keysForm
	if f.bits != nil {
		data[1] = bitsForm
	}
	data[2] = byte(f.hashes)
	data[3] = byte(nameSize / 8)
	binary.LittleEndian.PutUint32(data[4:], f.keyType.number)
	binary.LittleEndian.PutUint32(data[8:], uint32(f.words))
	binary.LittleEndian.PutUint64(data[12:], f.seed)
	binary.LittleEndian.PutUint64(data[20:], f.capacity)
	binary.LittleEndian.PutUint64(data[28:], math.Float64bits(f.fpProb))
	binary.LittleEndian.PutUint64(data[36:], f.count)
	copy(data[headerSize:], f.keyType.name)
	for _, h := range f.keys {
		data = binary.LittleEndian.AppendUint64(data, h)
	}
	return append(data, f.bits...), nil
}

// MarshalText returns the text form, base64.
func (f *Filter) MarshalText() ([]byte, error) {
	data, _ := f.MarshalBinary()
	text := make([]byte, base64.StdEncoding.EncodedLen(len(data)))
	base64.StdEncoding.Encode(text, data)
	return text, nil
}

func (f *Filter) size() int {
	return headerSize + (len(f.keyType.name)+7)/8*8 + 8*len(f.keys) + len(f.bits)
}

// String is a line for people.  The text form is that of MarshalText.
func (f *Filter) String() string {
	if f.words == 0 {
		return "bloom filter without a shape"
	}
	return fmt.Sprintf("bloom filter of about %.0f keys of type %v, sized for %d at %g",
		f.estimate(), f.keyType, f.capacity, f.fpProb)
}

// Info describes the filter.
func (f *Filter) Info() Info {
	info := Info{
		KeyType: f.keyType, Bits: int64(f.words * 64), Hashes: f.hashes, Seed: int64(f.seed),
		Capacity: int64(f.capacity), FPProb: f.fpProb, Keys: f.estimate(),
		FPProbNow: math.Ldexp(float64(f.count), -64), Form: "keys", Bytes: f.size(),
	}
	if f.bits != nil {
		info.Form = "bits"
		info.FPProbNow = math.Pow(float64(f.count)/float64(f.words*64), float64(f.hashes))
	}
	return info
}

// estimate is about how many keys were added.  If all bits are set, it is what
// all but one would say.
func (f *Filter) estimate() float64 {
	if f.bits == nil {
		return float64(f.count)
	}
	m := float64(f.words * 64)
	return -m / float64(f.hashes) * math.Log1p(-math.Min(float64(f.count), m-1)/m)
}

// FPProbNow is the rate of false positives with the keys that the filter has now.
func (f *Filter) FPProbNow() float64 {
	return f.Info().FPProbNow
}

// IsOverfull reports whether FPProbNow is more than requested, and the estimated
// number of keys above the capacity by more than chance.  It is bloom_is_overfull,
// and the rule of the server's WARNING.
func (f *Filter) IsOverfull() bool {
	m, capacity := float64(f.words*64), float64(f.capacity)
	c := float64(f.hashes) * capacity / m
	deviation := math.Sqrt(m*(math.Expm1(c)-c)) / float64(f.hashes)
	return f.bits != nil && f.FPProbNow() > f.fpProb && f.estimate() > capacity+4*deviation
}

// Contains reports whether the filter possibly contains the key.  False is
// certain.  A key of another type than the filter holds is ErrKeyType.
func (f *Filter) Contains(key Key) (bool, error) {
	if key.number != f.keyType.number || key.content == outOfRange {
		return false, f.check(key)
	}
	if key.content == inWord && f.bits != nil { // the usual case, without a call
		return testBits(f.bits, f.words*64, f.hashes, notZero(xxh3of8(key.word, f.seed))), nil
	}
	return f.test(key.hash(f.seed)), nil
}

// check is for a key that Contains cannot look up.  A filter that has no key
// type yet contains no key of any.
func (f *Filter) check(key Key) error {
	switch {
	case key.content == none || key.content == outOfRange:
		return key.err()
	case f.keyType.number != 0 && f.keyType.number != key.number:
		return fmt.Errorf("%w: a key of type %v, where the filter holds keys of type %v",
			ErrKeyType, KeyType{number: key.number}, f.keyType)
	}
	return nil
}

func (f *Filter) test(hash uint64) bool {
	if f.bits == nil {
		i := sort.Search(len(f.keys), func(i int) bool { return f.keys[i] >= hash })
		return i < len(f.keys) && f.keys[i] == hash
	}
	return testBits(f.bits, f.words*64, f.hashes, hash)
}

// testBits looks at four bits before it decides: to decide after each would let
// every cache miss wait for the one before.
func testBits(data []byte, m uint64, hashes int, hash uint64) bool {
	a := hash
	for ; hashes >= 4; hashes -= 4 {
		a1 := a*multiplier + increment
		a2 := a1*multiplier + increment
		a3 := a2*multiplier + increment
		a = a3*multiplier + increment
		if bit(data, a1, m)&bit(data, a2, m)&bit(data, a3, m)&bit(data, a, m) == 0 {
			return false
		}
	}
	for ; hashes > 0; hashes-- {
		a = a*multiplier + increment
		if bit(data, a, m) == 0 {
			return false
		}
	}
	return true
}

// bit is in the lowest bit of the result.
func bit(data []byte, a, m uint64) byte {
	position, _ := bits.Mul64(a, m)
	return data[position>>3] >> (position & 7) & 1
}

func setBits(data []byte, m uint64, hashes int, hash uint64) {
	for a := hash; hashes > 0; hashes-- {
		a = a*multiplier + increment
		position, _ := bits.Mul64(a, m)
		data[position>>3] |= 1 << (position & 7)
	}
}

func countBits(data []byte) uint64 {
	count := 0
	for ; len(data) >= 8; data = data[8:] {
		count += bits.OnesCount64(binary.LittleEndian.Uint64(data))
	}
	return uint64(count)
}

// Equal reports whether the filters have the same bytes.
func (f *Filter) Equal(other *Filter) bool {
	a, _ := f.MarshalBinary()
	b, _ := other.MarshalBinary()
	return bytes.Equal(a, b)
}

// Union returns the filter of the keys of both.  Filters of different bits,
// hashes or seeds are ErrShape, those of different key types ErrKeyType.
func Union(a, b *Filter) (*Filter, error) {
	if a.words == 0 || b.words == 0 {
		if a.words == 0 {
			a = b
		}
		return a, nil
	}
	result, err := combine(a, b)
	if err != nil {
		return nil, err
	}
	if a.bits == nil && b.bits == nil {
		keys := append(append([]uint64(nil), a.keys...), b.keys...)
		result.setKeys(sortDistinct(keys))
		return result, nil
	}
	if a.bits == nil {
		a, b = b, a
	}
	data := append([]byte(nil), a.bits...)
	for i := range b.bits {
		data[i] |= b.bits[i]
	}
	for _, h := range b.keys {
		setBits(data, a.words*64, a.hashes, h)
	}
	result.bits, result.count = data, countBits(data)
	return result, nil
}

// Intersect returns a filter that has the keys that both have, and possibly
// others.  The errors are those of Union.
func Intersect(a, b *Filter) (*Filter, error) {
	if a.words == 0 || b.words == 0 {
		if b.words == 0 {
			a = b
		}
		return a, nil
	}
	result, err := combine(a, b)
	if err != nil {
		return nil, err
	}
	if a.keyType != b.keyType {
		result.keyType = KeyType{} // one of them holds nothing
	}
	if a.bits != nil && b.bits != nil {
		data := make([]byte, len(a.bits))
		for i := range data {
			data[i] = a.bits[i] & b.bits[i]
		}
		if result.count = countBits(data); result.count > 0 {
			result.bits = data
		} else {
			result.keyType = KeyType{}
		}
	} else {
		if a.bits != nil {
			a, b = b, a
		}
		for _, h := range a.keys {
			if b.test(h) {
				result.keys = append(result.keys, h)
			}
		}
		result.count = uint64(len(result.keys))
	}
	return result, nil
}

// combine returns an empty filter for the keys of two.
func combine(a, b *Filter) (*Filter, error) {
	if a.words != b.words || a.hashes != b.hashes || a.seed != b.seed {
		return nil, fmt.Errorf("%w: %d bits, %d hashes and seed %d, and %d bits, %d hashes and seed %d",
			ErrShape, a.words*64, a.hashes, int64(a.seed), b.words*64, b.hashes, int64(b.seed))
	}
	none := KeyType{}
	if a.keyType != none && b.keyType != none && a.keyType != b.keyType {
		return nil, fmt.Errorf("%w: filters of keys of type %v and of type %v", ErrKeyType, a.keyType, b.keyType)
	}
	result := &Filter{shape: a.shape, keyType: a.keyType}
	if a.keyType == none {
		result.keyType = b.keyType
	}
	if b.capacity > a.capacity || b.capacity == a.capacity && b.fpProb > a.fpProb {
		result.capacity, result.fpProb = b.capacity, b.fpProb
	}
	return result, nil
}

// setKeys gives a filter its content: these distinct hashes, in the form that
// their number asks for.
func (f *Filter) setKeys(keys []uint64) {
	f.count = uint64(len(keys))
	if f.count < f.words {
		f.keys = keys
		return
	}
	f.bits = make([]byte, f.words*8)
	for _, h := range keys {
		setBits(f.bits, f.words*64, f.hashes, h)
	}
	f.count = countBits(f.bits)
}

// sortDistinct sorts the keys in place, and drops repeats.
func sortDistinct(keys []uint64) []uint64 {
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	n := 0
	for i, h := range keys {
		if i == 0 || h != keys[i-1] {
			keys[n] = h
			n++
		}
	}
	return keys[:n]
}
