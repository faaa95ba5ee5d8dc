package sparse

import "fmt"

// Order is an order of nodes: o[p] is the number of the node at position p. All arrays of a model with a row for each
// node are in one order.
type Order []int32

// AsGiven is the order of n nodes by their numbers: 0, 1, …, n-1.
func AsGiven(n int) Order {
	o := make(Order, n)
	for i := range o {
		o[i] = int32(i)
	}
	return o
}

// positions is the inverse: the position of node v at index v.
func (o Order) positions() []int32 {
	at := make([]int32, len(o))
	for p, v := range o {
		at[v] = int32(p)
	}
	return at
}

// check returns an error unless o lists each of the nodes 0 … n-1 once.
func (o Order) check(n int) error {
	if len(o) != n {
		return fmt.Errorf("sparse matrix: an order of %d nodes was given for %d", len(o), n)
	}
	seen := make([]bool, n)
	for p, v := range o {
		if v < 0 || int(v) >= n || seen[v] {
			return fmt.Errorf("sparse matrix: the order has node %d at position %d, "+
				"which is outside 0 to %d or there already", v, p, n-1)
		}
		seen[v] = true
	}
	return nil
}

// Permute brings rows of the given width from the order of the nodes' numbers to o. Restore undoes it.
func Permute[T any](o Order, rows []T, width int) []T {
	out := make([]T, len(rows))
	for p, v := range o {
		copy(out[p*width:(p+1)*width], rows[int(v)*width:(int(v)+1)*width])
	}
	return out
}

func Restore[T any](o Order, rows []T, width int) []T {
	out := make([]T, len(rows))
	for p, v := range o {
		copy(out[int(v)*width:(int(v)+1)*width], rows[p*width:(p+1)*width])
	}
	return out
}
