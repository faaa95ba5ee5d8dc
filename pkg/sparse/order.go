package sparse

import "fmt"

// Order lists the numbers of the nodes: o[p] is the node at position p. All arrays of a model that have a row for each
// node (features, labels, masks) are in the same order. [Permute] brings arrays into this order, and [Restore] back.
type Order []int32

// AsGiven is the order of the nodes' own numbers, 0 … n-1.
func AsGiven(n int) Order {
	o := make(Order, n)
	for i := range o {
		o[i] = int32(i)
	}
	return o
}

// positions returns the position of each node in the order.
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

// Permute reorders rows from the nodes' own numbering to the order o. The rows are listed one after the other, and
// width is the length of a row. [Restore] does the reverse.
func Permute[T any](o Order, rows []T, width int) []T {
	out := make([]T, len(rows))
	for p, v := range o {
		copy(out[p*width:(p+1)*width], rows[int(v)*width:(int(v)+1)*width])
	}
	return out
}

// Restore reorders rows from the order o to the nodes' own numbering. The rows are listed one after the other, and
// width is the length of a row.
func Restore[T any](o Order, rows []T, width int) []T {
	out := make([]T, len(rows))
	for p, v := range o {
		copy(out[int(v)*width:(int(v)+1)*width], rows[p*width:(p+1)*width])
	}
	return out
}
