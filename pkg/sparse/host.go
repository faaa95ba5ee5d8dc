package sparse

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Product is A x, computed without an engine, for x of shape [columns, width]. It is for products that a model computes
// once, before training. Sums are in double precision.
func (a *CSR) Product(x []float32, width int) []float32 {
	out := make([]float32, a.Rows*width)
	a.inParallel(func(rows func() (from, to int)) {
		sum := make([]float64, width)
		for from, to := rows(); from < to; from, to = rows() {
			for i := from; i < to; i++ {
				clear(sum)
				for e := a.Start[i]; e < a.Start[i+1]; e++ {
					w, j := float64(a.Weight[e]), int(a.Column[e])
					for k, v := range x[j*width : (j+1)*width] {
						sum[k] += w * float64(v)
					}
				}
				for k, v := range sum {
					out[i*width+k] = float32(v)
				}
			}
		}
	})
	return out
}

// SecondNeighbours is the adjacency of the nodes that are exactly two steps apart. It may have up to n² entries: admit
// is called with their number first, and can refuse.
func (a *CSR) SecondNeighbours(admit func(entries int) error) (*CSR, error) {
	if a.Rows != a.Columns {
		return nil, fmt.Errorf("sparse matrix: %d x %d, but only nodes of one graph are two steps apart: "+
			"take a square adjacency", a.Rows, a.Columns)
	}
	s := &CSR{Rows: a.Rows, Columns: a.Columns, Start: make([]int, a.Rows+1), mirrored: a.mirrored}
	a.eachSecond(func(i int, second []int32) { s.Start[i+1] = len(second) })
	for i := range a.Rows {
		s.Start[i+1] += s.Start[i]
	}
	if err := admit(s.Start[a.Rows]); err != nil {
		return nil, err
	}
	s.Column, s.Weight = make([]int32, s.Start[a.Rows]), ones(s.Start[a.Rows])
	a.eachSecond(func(i int, second []int32) {
		slices.Sort(second)
		copy(s.Column[s.Start[i]:], second)
	})
	return s, nil
}

// eachSecond visits every node with the nodes exactly two steps away, from several threads and in any order.
func (a *CSR) eachSecond(visit func(i int, second []int32)) {
	a.inParallel(func(rows func() (from, to int)) {
		seen := make([]int32, a.Rows) // seen[k] is i+1 if node k has been reached from node i
		var second []int32
		for from, to := rows(); from < to; from, to = rows() {
			for i := from; i < to; i++ {
				first := a.Column[a.Start[i]:a.Start[i+1]]
				second, seen[i] = second[:0], int32(i+1)
				for _, j := range first {
					seen[j] = int32(i + 1)
				}
				for _, j := range first {
					for _, k := range a.Column[a.Start[j]:a.Start[j+1]] {
						if seen[k] != int32(i+1) {
							seen[k] = int32(i + 1)
							second = append(second, k)
						}
					}
				}
				visit(i, second)
			}
		}
	})
}

// inParallel calls work on several threads. rows gives out ranges of rows, each once, and an empty one at the end.
func (a *CSR) inParallel(work func(rows func() (from, to int))) {
	const some = 64
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), a.Rows/some+1) {
		all.Go(func() {
			work(func() (from, to int) {
				to = int(next.Add(some))
				return to - some, min(to, a.Rows)
			})
		})
	}
	all.Wait()
}
