package sparse

import "fmt"

// Order is an order of nodes. It lists the numbers of the nodes: the node at position p of the order o has the number
// o[p]. All arrays of a model that have a row for each node (features, labels, masks) are in the same order. [Permute]
// reorders an array from the order of the nodes' numbers to an order o, and [Restore] undoes this.
type Order []int32

// AsGiven is the order of n nodes by their numbers: 0, 1, …, n-1.
func AsGiven(n int) Order {
	o := make(Order, n)
	for i := range o {
		o[i] = int32(i)
	}
	return o
}

// positions returns a list of the nodes' positions: at index v, it has the position of node v in the order o.
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

// Permute reorders the rows of an array from the order of the nodes' numbers to the order o. The argument rows has the
// rows one after the other, and width is the number of values in a row. [Restore] undoes this.
func Permute[T any](o Order, rows []T, width int) []T {
	out := make([]T, len(rows))
	for p, v := range o {
		copy(out[p*width:(p+1)*width], rows[int(v)*width:(int(v)+1)*width])
	}
	return out
}

// Restore reorders the rows of an array from the order o to the order of the nodes' numbers. The argument rows has the
// rows one after the other, and width is the number of values in a row.
func Restore[T any](o Order, rows []T, width int) []T {
	out := make([]T, len(rows))
	for p, v := range o {
		copy(out[int(v)*width:(int(v)+1)*width], rows[p*width:(p+1)*width])
	}
	return out
}
