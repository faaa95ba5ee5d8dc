package train

import (
	"context"
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/models"
)

// Inversion tells how well a model's reverse layers undo its forward layers.
type Inversion struct {
	Model  string `json:"model"`
	Graph  string `json:"dataset"`
	Engine string `json:"engine"`
	// Threads is the number of threads on which the engine computed, or 0 if results do not depend on this number.
	Threads int `json:"threads,omitempty"`
	Depth   int `json:"depth"`
	// Time is for GRAND, whose differential equation is integrated from time 0 to this time, and then back to time 0.
	// It is 0 for other models.
	Time float64 `json:"time,omitempty"`
	// Iterations is the number of iterations per reverse layer (M in the paper). Lipschitz is the bound on how much the
	// branch h of a layer may stretch distances (c in the paper).
	Iterations int     `json:"max_iterations"`
	Lipschitz  float64 `json:"lipschitz"`
	Hidden     int     `json:"hidden"`
	Seed       uint64  `json:"seed"`
	// MeanAbsError is the error of the inversion (paper table 4). The encoded features go through Depth forward layers
	// and then through Depth reverse layers. The error is the mean absolute difference between the result and the
	// encoded features.
	MeanAbsError Number `json:"mean_abs_error"`
	// MeanAbsInput is the mean absolute value of the encoded features. MeanAbsError can be compared with it.
	MeanAbsInput Number `json:"mean_abs_input"`
	// Residual[m] is the mean absolute change of the iterate (the approximation of the solution) in iteration m+1,
	// averaged over the layers (paper figure 5). Residual is empty for GRAND, which does not iterate.
	Residual []Number `json:"residual"`
}

// Invertible returns an error if a model has no reverse process. If there is a variant of the model with a reverse
// process, the error names it: gcn+rep for gcn, for example.
func Invertible(c Config) error {
	if c.HasReverse() {
		return nil
	}
	k, err := models.Lookup(c.Model)
	if err != nil {
		return err
	}
	with, ok := k.WithReverse()
	if !ok {
		return fmt.Errorf("model %s has no reverse layers to invert with, and no other model has one for it", c.Model)
	}
	return fmt.Errorf("model %s has no reverse layers to invert with: choose %s", c.Model, with.Name)
}

// Invert measures how well reverse layers undo forward layers. It runs c.Forward forward layers on the encoded features
// of a graph, and then as many reverse layers on the result. A reverse layer with the input Y computes its result Z by
// the fixed-point iteration Z = Y - h(Z), where h is the branch of the layer. The iteration starts from Z = Y, and
// takes exactly c.MaxIterations steps (algorithm 1 of the paper).
//
// The parameters are drawn with the seed c.Seed. If the layers' weights have a bound on their norms, they are then
// scaled up or down, so that the sum of their norms is c.Lipschitz. GRAND has no fixed-point iteration: its
// differential equation is integrated from time 0 to the time in [Inversion].Time, and then back to time 0.
func Invert(ctx context.Context, e *engine.Engine, g *graphs.Graph, c Config) (inv *Inversion, err error) {
	defer recovered(&err)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("interrupted before the inversion")
	}
	if err := Invertible(c); err != nil {
		return nil, err
	}
	c.Dropout = 0
	if c.Normalise != "" {
		c.Normalise = "project"
	}
	s, err := newSession(e, g, 0, c)
	if err != nil {
		return nil, err
	}
	defer s.close()
	inverter, ok := s.model.Network.(models.Inverter)
	if !ok {
		return nil, fmt.Errorf("model %s cannot be run forwards and back again: choose one that can", c.Model)
	}
	if err := s.toBound(); err != nil {
		return nil, err
	}
	out, err := s.once("inversion", func(scope *model.Scope, in []*Node) []*Node {
		x, z, residual, stats := inverter.RoundTrip(s.model.Builder(scope, in[2:]))
		out := []*Node{ReduceAllMean(Abs(Sub(z, x))), ReduceAllMean(Abs(x)), stats.Outcome}
		if residual != nil {
			out = append(out, residual)
		}
		return out
	})
	if err != nil {
		return nil, err
	}
	defer release(out)
	if why := s.explain(out[2]); why != "" {
		return nil, fmt.Errorf("the model cannot be inverted: %s", why)
	}
	to, _ := c.Value("time").(float64)
	inv = &Inversion{Model: c.Model, Graph: g.Name, Engine: e.Name, Threads: e.Threads, Depth: s.config.Forward, Time: to,
		Residual: []Number{}, Iterations: c.MaxIterations, Lipschitz: c.Contraction(),
		Hidden: c.Hidden, Seed: c.Seed, MeanAbsError: Number(tensors.ToScalar[float32](out[0])),
		MeanAbsInput: Number(tensors.ToScalar[float32](out[1]))}
	for _, t := range out[3:] {
		for _, v := range tensors.MustCopyFlatData[float32](t) {
			inv.Residual = append(inv.Residual, Number(v))
		}
	}
	return inv, nil
}
