package datasets

import (
	"fmt"
	"math"
)

// each calls f with the position of every value in C order and its offset in the raw bytes. Fortran order is supported
// up to two dimensions, which is what the public files use it for.
func (a *array) each(f func(at, offset int) error) error {
	if !a.fortran || len(a.shape) < 2 {
		for i := range a.count() {
			if err := f(i, i*a.size); err != nil {
				return err
			}
		}
		return nil
	}
	if len(a.shape) > 2 {
		return fmt.Errorf("is in Fortran order with %d dimensions; save it in C order", len(a.shape))
	}
	rows, columns := a.shape[0], a.shape[1]
	for r := range rows {
		for c := range columns {
			if err := f(r*columns+c, (c*rows+r)*a.size); err != nil {
				return err
			}
		}
	}
	return nil
}

// integer reads one bool or integer value; ok is false if it does not fit int64.
func (a *array) integer(offset int) (v int64, ok bool) {
	b := a.data[offset : offset+a.size]
	var u uint64
	switch a.size {
	case 1:
		u = uint64(b[0])
	case 2:
		u = uint64(a.order.Uint16(b))
	case 4:
		u = uint64(a.order.Uint32(b))
	case 8:
		u = a.order.Uint64(b)
	}
	if a.kind == 'i' {
		shift := 64 - 8*a.size
		return int64(u<<shift) >> shift, true
	}
	return int64(u), u <= math.MaxInt64
}

// float32s returns the values in C order. Values beyond float32 become infinite, which graph validation refuses.
func (a *array) float32s() ([]float32, error) {
	out := make([]float32, a.count())
	var err error
	switch {
	case a.kind == 'f' && a.size == 4:
		err = a.each(func(at, offset int) error {
			out[at] = math.Float32frombits(a.order.Uint32(a.data[offset:]))
			return nil
		})
	case a.kind == 'f':
		err = a.each(func(at, offset int) error {
			out[at] = float32(math.Float64frombits(a.order.Uint64(a.data[offset:])))
			return nil
		})
	default:
		err = a.each(func(at, offset int) error {
			v, ok := a.integer(offset)
			if !ok {
				return fmt.Errorf("holds a value above %d", int64(math.MaxInt64))
			}
			out[at] = float32(v)
			return nil
		})
	}
	return out, err
}

// int64s returns the values in C order; floats are refused.
func (a *array) int64s() ([]int64, error) {
	if a.kind == 'f' {
		return nil, fmt.Errorf("holds floating-point values where whole numbers are needed")
	}
	out := make([]int64, a.count())
	err := a.each(func(at, offset int) error {
		v, ok := a.integer(offset)
		if !ok {
			return fmt.Errorf("holds a value above %d", int64(math.MaxInt64))
		}
		out[at] = v
		return nil
	})
	return out, err
}

// bools returns the values in C order; besides bool, integers 0 and 1 are accepted.
func (a *array) bools() ([]bool, error) {
	if a.kind == 'f' {
		return nil, fmt.Errorf("holds floating-point values where true and false are needed")
	}
	out := make([]bool, a.count())
	err := a.each(func(at, offset int) error {
		v, ok := a.integer(offset)
		if !ok || v != 0 && v != 1 {
			return fmt.Errorf("holds a value other than 0 and 1 where true and false are needed")
		}
		out[at] = v == 1
		return nil
	})
	return out, err
}
