package solve

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/loop"
)

// grid is the number of steps of a fixed-step integration, their size and that of the last one, both with To's sign.
func (o Integration) grid() (count int, h, last float64) {
	// A To that is a multiple of Step but for rounding does not get one more, tiny step.
	count = max(1, int(math.Ceil(math.Abs(o.To)/o.Step-1e-6)))
	h = math.Copysign(o.Step, o.To)
	return count, h, o.To - float64(count-1)*h
}

func integrateFixed(f Field, x *Node, w []*Node, o Integration) (*Node, *Stats) {
	m := o.Method.without()
	count, size, last := o.grid()
	at := func(i, x *Node) (t, h *Node) {
		step := loop.Float(x, size)
		final := Equal(i, loop.Int(i.Graph(), count-1))
		return Mul(ConvertDType(i, x.DType()), step), Where(final, loop.Float(x, last), step)
	}
	s := steps{trainable: f.Trainable(), segment: segmentOf(x, count),
		advance: func(i, x *Node, w []*Node) *Node {
			t, h := at(i, x)
			return m.advance(f, t, x, h, w)
		},
		pull: func(i, x, v *Node, w []*Node) []*Node {
			t, h := at(i, x)
			return m.pull(f, vector(x, m.B), t, x, h, v, w)
		},
	}
	stats := NoStats(x)
	stats.Iterations = loop.Int(x.Graph(), count*m.stages())
	stats.AdjointIterations = loop.Int(x.Graph(), count*m.stages())
	return s.run(x, w, count), stats
}

// NoStats are the statistics of doing nothing.
func NoStats(x *Node) *Stats {
	g := x.Graph()
	zero := ConvertDType(loop.Int(g, 0), x.DType())
	return &Stats{Iterations: loop.Int(g, 0), AdjointIterations: loop.Int(g, 0), Residual: zero, Layer: loop.Int(g, 0), AdjointResidual: zero,
		Outcome: loop.Int(g, Reached)}
}
