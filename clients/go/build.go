package bloomtype

import (
	"fmt"
	"math"
	"strconv"
)

// Options say which filter to build.  Filters that are built with the same
// options, here or in the server, can be combined.
type Options struct {
	Capacity int64   // of distinct keys
	FPProb   float64 // 0 means 0.01
	Seed     int64
	KeyType  KeyType // the zero KeyType: that of the first key
}

// Builder makes a filter of keys.  It is not for several goroutines at once.
type Builder struct {
	filter  *Filter  // without the pending hashes
	pending []uint64 // if the filter is in keys form
}

// NewBuilder starts an empty filter, with the size that the server gives it.
func NewBuilder(o Options) (*Builder, error) {
	if o.FPProb == 0 {
		o.FPProb = 0.01
	}
	bitsPerKey, hashes, err := BestParams(o.FPProb)
	if err != nil {
		return nil, err
	}
	if most := int64(maxWords * 64 / bitsPerKey); o.Capacity < 1 || o.Capacity > most {
		return nil, fmt.Errorf("bloomtype: capacity %d is out of range: at this FPProb it is 1 to %d",
			o.Capacity, most)
	}
	words := (uint64(o.Capacity)*uint64(bitsPerKey) + 63) / 64
	return &Builder{filter: &Filter{
		shape: shape{words, hashes, uint64(o.Seed), uint64(o.Capacity), o.FPProb},

		keyType: o.KeyType,
	}}, nil
}

// NewBuilderFrom starts with the keys of a filter, which stays as it is.  A
// filter without a shape is ErrShape.
func NewBuilderFrom(f *Filter) (*Builder, error) {
	if f.words == 0 {
		return nil, fmt.Errorf("%w: a filter without a shape has no room for keys", ErrShape)
	}
	return &Builder{filter: f.clone()}, nil
}

func (f *Filter) clone() *Filter {
	clone := *f
	clone.keys = append([]uint64(nil), f.keys...)
	clone.bits = append([]byte(nil), f.bits...)
	return &clone
}

// Add adds a key.  One of another type than those before is ErrKeyType.
func (b *Builder) Add(key Key) error {
	f := b.filter
	if key.number != f.keyType.number || key.content == outOfRange {
		if err := f.check(key); err != nil {
			return err
		}
		f.keyType = KeyType{number: key.number}
	}
	h := key.hash(f.seed)
	if f.bits != nil {
		setBits(f.bits, f.words*64, f.hashes, h)
		return nil
	}
	b.pending = append(b.pending, h)
	if uint64(len(b.pending)) >= f.words {
		b.flush()
	}
	return nil
}

// flush moves the pending keys into the filter.
func (b *Builder) flush() {
	if len(b.pending) > 0 {
		keys := append(b.filter.keys, b.pending...)
		b.filter.keys, b.pending = nil, nil
		b.filter.setKeys(sortDistinct(keys))
	}
}

// Filter returns the filter of the keys so far.  The builder can go on.  If there
// were more keys than the capacity, its rate is higher than requested: see Err.
func (b *Builder) Filter() *Filter {
	b.count()
	return b.filter.clone()
}

func (b *Builder) count() {
	b.flush()
	if b.filter.bits != nil {
		b.filter.count = countBits(b.filter.bits)
	}
}

// Err is ErrOverfull, with the rate that the filter now has, if more keys were added
// than the capacity, and nil otherwise.  Call it after the last Add.
func (b *Builder) Err() error {
	b.count()
	if f := b.filter; f.IsOverfull() {
		return fmt.Errorf("%w: about %.0f, where it is %d; the false-positive rate is now %.3g, not %g",
			ErrOverfull, f.estimate(), f.capacity, f.FPProbNow(), f.fpProb)
	}
	return nil
}

// BestParams returns the smallest whole number of bits per key that reaches the
// false-positive rate, and the smallest number of hashes that then still does,
// as best_params does.
func BestParams(fpProb float64) (bitsPerKey, hashes int, err error) {
	for bitsPerKey = 1; bitsPerKey <= 64 && fpProb > 0 && fpProb < 1; bitsPerKey++ {
		most := int(math.Ceil(float64(bitsPerKey) * math.Ln2))
		for hashes = 1; hashes <= most; hashes++ {
			if rate(bitsPerKey, hashes) <= fpProb {
				return bitsPerKey, hashes, nil
			}
		}
	}
	return 0, 0, fmt.Errorf("bloomtype: FPProb %g is out of range: it is at least 4.43e-14, and less than 1", fpProb)
}

// rate is the false-positive rate at capacity.  From 2 to 20 bits per key, it is
// that of the table that is published: three digits, and 0.092 where 0.0918 is
// right.
func rate(bitsPerKey, hashes int) float64 {
	r := power(-math.Expm1(-float64(hashes)/float64(bitsPerKey)), hashes)
	switch {
	case bitsPerKey == 5 && hashes == 3:
		r = 0.092
	case bitsPerKey >= 2 && bitsPerKey <= 20:
		r, _ = strconv.ParseFloat(strconv.FormatFloat(r, 'e', 2, 64), 64)
	}
	return r
}

// power rounds once, as the server's pow does, where math.Pow can be off in the
// last digit: then a rate that bloom_params returns would not reach itself.
func power(x float64, n int) float64 {
	high, low := x, 0.0
	for ; n > 1; n-- {
		product := high * x
		low = math.FMA(high, x, -product) + low*x
		high = product + low
		low -= high - product
	}
	return high
}
