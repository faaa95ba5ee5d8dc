package train

import (
	"context"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
)

// Inversion tells how well the reverse layers undo the forward layers.
type Inversion struct {
	Model  string `json:"model"`
	Graph  string `json:"dataset"`
	Engine string `json:"engine"`
	Depth  int    `json:"depth"`
	// Time that GRAND integrates to and back.
	Time float64 `json:"time,omitempty"`
	// Iterations M per layer, and the bound c on the weight's norm.
	Iterations int     `json:"max_iterations"`
	Lipschitz  float64 `json:"lipschitz"`
	Hidden     int     `json:"hidden"`
	Seed       uint64  `json:"seed"`
	// MeanAbsError is the mean absolute difference between the input and what depth reverse layers make of depth forward
	// layers' output (paper table 4).
	MeanAbsError Number `json:"mean_abs_error"`
	// MeanAbsInput is the mean absolute value of that input, for scale.
	MeanAbsInput Number `json:"mean_abs_input"`
	// Residual[m] is the mean absolute change of the iterate in iteration m+1, averaged over the layers (paper figure 5); GRAND
	// has none.
	Residual []Number `json:"residual"`
}

// Invert runs c.Forward layers forwards and as many backwards, with exactly c.MaxIterations iterations each from the
// right-hand side as start (Algorithm 1 of the paper), on the encoded features of a graph. The parameters are drawn from
// the seed, and the weight is scaled to the norm c.Lipschitz. GRAND is integrated to c.Time and back instead.
func Invert(ctx context.Context, e *engine.Engine, g *graphs.Graph, c Config) (inv *Inversion, err error) {
	defer recovered(&err)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("interrupted before the inversion")
	}
	if !c.HasReverse() {
		return nil, fmt.Errorf("model %s has no reverse layers to invert with: choose %s+rep", c.Model, c.Model)
	}
	c.Normalise, c.Dropout, c.ReverseTime = "project", 0, c.Time
	s, err := newSession(e, g, 0, c)
	if err != nil {
		return nil, err
	}
	defer s.close()
	for _, p := range s.params {
		if p.Bounded {
			if err := rescale(s.variable(p), p, func(norm float64) float64 { return c.Lipschitz / norm }); err != nil {
				return nil, err
			}
		}
	}
	out, err := s.once("inversion", func(scope *model.Scope, in []*Node) []*Node {
		x, z, residual, stats := s.model.RoundTrip(scope, in[2:])
		out := []*Node{ReduceAllMean(Abs(Sub(z, x))), ReduceAllMean(Abs(x)), stats.Outcome}
		if residual != nil {
			out = append(out, residual)
		}
		return out
	})
	if err != nil {
		return nil, err
	}
	if why := s.explain(out[2]); why != "" {
		return nil, fmt.Errorf("the model cannot be inverted: %s", why)
	}
	inv = &Inversion{Model: c.Model, Graph: g.Name, Engine: e.Name, Depth: s.config.Forward, Time: c.Time, Residual: []Number{}, Iterations: c.MaxIterations, Lipschitz: c.Lipschitz,
		Hidden: c.Hidden, Seed: c.Seed, MeanAbsError: Number(tensors.ToScalar[float32](out[0])), MeanAbsInput: Number(tensors.ToScalar[float32](out[1]))}
	for _, t := range out[3:] {
		for _, v := range tensors.MustCopyFlatData[float32](t) {
			inv.Residual = append(inv.Residual, Number(v))
		}
	}
	return inv, nil
}
