package npz

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Array is a NumPy array as it is stored: its raw bytes, and how to read them. The errors of its methods begin with a
// verb, such as "is in Fortran order with 3 dimensions". The caller can therefore put the array's name before an error.
type Array struct {
	Shape   []int
	kind    byte // 'b' bool, 'i' signed, 'u' unsigned, 'f' float
	size    int  // bytes per value
	order   binary.ByteOrder
	fortran bool
	data    []byte
}

// NewArray makes an array from raw bytes. The text descr is NumPy's name for the type of the values, such as "<f4" for
// float32 with the lowest byte first. If fortran is true, the values are in Fortran order. There must be exactly as
// many bytes as the shape needs. The bytes are not copied.
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

// setShape sets the shape. The caller must first check the shape by checkShape, which returns an error if the array
// would be too large.
func (a *Array) setShape(shape []int64) {
	a.Shape = make([]int, len(shape))
	for i, d := range shape {
		a.Shape[i] = int(d)
	}
}

// count returns the number of values, which is the product of the dimensions. The product cannot overflow, since
// checkShape limits it.
func (a *Array) count() int {
	n := 1
	for _, d := range a.Shape {
		n *= d
	}
	return n
}

// each calls f for every value. The arguments of f are the value's position in C order, and the offset of its first
// byte in the raw bytes. Arrays in Fortran order may have at most two dimensions, which is enough for the public
// datasets.
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

// integer reads the value at an offset in the raw bytes of an array of integers or bool. The result ok is false if the
// value does not fit int64.
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

// Float32s returns the values in C order. Values beyond the range of float32 become infinite.
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

// Int64s returns the values in C order. Floating-point values are refused.
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

// Bools returns the values in C order. Besides bool, integers are accepted if they are 0 or 1.
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
