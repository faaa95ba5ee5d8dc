package datasets

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/npz"
)

// pickledArray is the array of _reconstruct(ndarray, …) with the state (version, shape, dtype, Fortran order, bytes).
func pickledArray(v any) (*npz.Array, error) {
	object, ok := v.(*pickleObject)
	if !ok || object.class != "numpy.core.multiarray _reconstruct" &&
		object.class != "numpy._core.multiarray _reconstruct" {
		return nil, fmt.Errorf("holds something other than a NumPy array")
	}
	damaged := fmt.Errorf("holds a NumPy array whose description is damaged")
	state, ok := object.state.(pickleTuple)
	if !ok || len(state) != 5 {
		return nil, damaged
	}
	dims, ok1 := state[1].(pickleTuple)
	fortran, ok2 := state[3].(bool)
	raw, ok3 := state[4].(pickleString)
	if !ok1 || !ok2 || !ok3 {
		return nil, damaged
	}
	descr, err := pickledType(state[2])
	if err != nil {
		return nil, err
	}
	var shape []int64
	for _, dim := range dims {
		n, ok := dim.(int64)
		if !ok {
			return nil, damaged
		}
		shape = append(shape, n)
	}
	return npz.NewArray(descr, fortran, shape, []byte(raw))
}

// pickledType is NumPy's name of a type, such as "<f4", from dtype('f4', 0, 1) with the state (3, '<', …).
func pickledType(v any) (string, error) {
	damaged := fmt.Errorf("holds a NumPy array of an unknown type")
	object, ok := v.(*pickleObject)
	if !ok || object.class != "numpy dtype" || len(object.args) == 0 {
		return "", damaged
	}
	code, ok1 := object.args[0].(pickleString)
	state, ok2 := object.state.(pickleTuple)
	if !ok1 || !ok2 || len(state) < 2 {
		return "", damaged
	}
	order, ok := state[1].(pickleString)
	if !ok || len(code) > 8 || len(order) > 1 {
		return "", damaged
	}
	return string(order + code), nil
}

// pickledCSR is the matrix of scipy.sparse.csr_matrix, whose state has _shape, indptr, indices and data.
func pickledCSR(v any) (*csr, error) {
	object, ok := v.(*pickleObject)
	if !ok || object.class != "scipy.sparse.csr csr_matrix" && object.class != "scipy.sparse._csr csr_matrix" {
		return nil, fmt.Errorf("holds something other than a sparse matrix")
	}
	state, ok := object.state.(*pickleDict)
	if !ok {
		return nil, fmt.Errorf("holds a sparse matrix without content")
	}
	dims, ok := state.get("_shape").(pickleTuple)
	if !ok || len(dims) != 2 {
		return nil, fmt.Errorf("holds a sparse matrix without a shape")
	}
	var shape []int64
	for _, dim := range dims {
		n, ok := dim.(int64)
		if !ok {
			return nil, fmt.Errorf("holds a sparse matrix with a damaged shape")
		}
		shape = append(shape, n)
	}
	var arrays [3]*npz.Array
	for i, key := range [3]string{"indptr", "indices", "data"} {
		a, err := pickledArray(state.get(key))
		if err != nil {
			return nil, err
		}
		arrays[i] = a
	}
	indptr, err := arrays[0].Int64s()
	if err != nil {
		return nil, err
	}
	indices, err := arrays[1].Int64s()
	if err != nil {
		return nil, err
	}
	values, err := arrays[2].Float32s()
	if err != nil {
		return nil, err
	}
	return newCSR(shape, indptr, indices, values)
}
