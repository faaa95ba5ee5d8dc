package solve

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// grid returns three numbers for an integration with fixed steps: the number of steps, the size of all steps but the
// last, and the size of the last step. The sizes have the sign of To.
func (o Integration) grid() (count int, h, last float64) {
	count = int(o.steps())
	h = math.Copysign(o.Step, o.To)
	return count, h, o.To - float64(count-1)*h
}

// steps is the number of steps of an integration with fixed steps: |To| / Step, rounded up, and at least 1. If To is a
// multiple of Step, rounding errors could add a tiny last step. The subtraction of 1e-6 prevents this.
func (o Integration) steps() float64 { return max(1, math.Ceil(math.Abs(o.To)/o.Step-1e-6)) }

// integrateFixed computes the integrations in the list os, which all start from x and differ only in To. They run in
// one loop, so that the field is compiled once.
func integrateFixed(f field, x *Node, w []*Node, os []Integration, adjoint *Node) (out []Solution) {
	m := os[0].Method.without()
	var times, sizes []float64
	counts := make([]int, len(os))
	most := 0
	for l, o := range os {
		count, h, last := o.grid()
		for i := range count - 1 {
			times, sizes = append(times, float64(i)*h), append(sizes, h)
		}
		times, sizes = append(times, float64(count-1)*h), append(sizes, last)
		counts[l] = count
		most = max(most, count)
	}
	weights := BroadcastToDims(row(vector(x, m.B)), len(times), len(m.B))
	reads := m.reads(f, stopped(w), grid{vector(x, times), vector(x, sizes), weights})
	steps := m.steps(f, segmentOf(x, most))
	steps.adjoint, steps.told = adjoint, pair(loop.Int(x.Graph(), len(times)*m.stages()), loop.Float(x, 0))
	all := steps.run(x, w[:f.Trainable()], reads, counts...)
	for l, count := range counts {
		s := NoStats(x)
		s.Iterations, s.Adjoint = loop.Int(x.Graph(), count*m.stages()), adjoint
		out = append(out, Solution{element(all, l), s})
	}
	return out
}
