package bloomtype

import (
	"database/sql/driver"
	"fmt"
)

// Scan reads a column of type bloom, or of filter::bytea.  For a column that can
// be null, scan into a **Filter.
func (f *Filter) Scan(src any) error {
	switch v := src.(type) {
	case string:
		return f.UnmarshalText([]byte(v))
	case []byte:
		// The first of the bytes is the version, which no base64 begins with.
		if len(v) > 0 && v[0] == version {
			return f.UnmarshalBinary(v)
		}
		return f.UnmarshalText(v)
	case nil:
		return fmt.Errorf("%w: it is null", ErrFormat)
	}
	return fmt.Errorf("%w: it is a %T", ErrFormat, src)
}

// Value is the text form, for a parameter of type bloom.  A nil *Filter is null.  The bytes of
// MarshalBinary, for $1::bytea::bloom, are a quarter smaller.
func (f Filter) Value() (driver.Value, error) {
	text, err := f.MarshalText()
	return string(text), err
}
