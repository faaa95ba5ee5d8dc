package npz

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Array is a NumPy array as stored. Errors of its methods begin with a verb, so that its name can stand before.
type Array struct {
	Shape   []int
	kind    byte // 'b' bool, 'i' signed, 'u' unsigned, 'f' float
	size    int  // bytes per value
	order   binary.ByteOrder
	fortran bool
	data    []byte
}

// NewArray makes an array of raw bytes, which are not copied, of NumPy's type descr, such as "<f4".
func NewArray(descr string, fortran bool, shape []int64, raw []byte) (*Array, error) {
	a, err := parseDescr(descr)
	if err != nil {
		return nil, err
	}
	want, err := checkShape(shape, a.size)
	if err != nil {
		return nil, err
	}
	if want != int64(len(raw)) {
		return nil, fmt.Errorf("claims an array of the shape %v, %d bytes, but holds %d", shape, want, len(raw))
	}
	a.fortran, a.data = fortran, raw
	a.setShape(shape)
	return &a, nil
}

// setShape must be given a shape that checkShape has accepted.
func (a *Array) setShape(shape []int64) {
	a.Shape = make([]int, len(shape))
	for i, d := range shape {
		a.Shape[i] = int(d)
	}
}

// count is the number of values, which checkShape keeps from overflowing.
func (a *Array) count() int {
	n := 1
	for _, d := range a.Shape {
		n *= d
	}
	return n
}

// each calls f with every value's position in C order and the offset of its bytes. Arrays in Fortran order may have two
// dimensions at most.
func (a *Array) each(f func(at, offset int) error) error {
	if !a.fortran || len(a.Shape) < 2 {
		for i := range a.count() {
			if err := f(i, i*a.size); err != nil {
				return err
			}
		}
		return nil
	}
	if len(a.Shape) > 2 {
		return fmt.Errorf("is in Fortran order with %d dimensions; save it in C order", len(a.Shape))
	}
	rows, columns := a.Shape[0], a.Shape[1]
	for r := range rows {
		for c := range columns {
			if err := f(r*columns+c, (c*rows+r)*a.size); err != nil {
				return err
			}
		}
	}
	return nil
}

// integer reads an integer or bool; ok is false if it does not fit.
func (a *Array) integer(offset int) (v int64, ok bool) {
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

// Float32s are in C order; values beyond float32 are infinite.
func (a *Array) Float32s() ([]float32, error) {
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

// Int64s are in C order; floating-point values are refused.
func (a *Array) Int64s() ([]int64, error) {
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

// Bools are in C order; integers 0 and 1 count.
func (a *Array) Bools() ([]bool, error) {
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
