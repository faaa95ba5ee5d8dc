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

// Inversion tells how well reverse layers undo forward layers.
type Inversion struct {
	Model  string `json:"model"`
	Graph  string `json:"dataset"`
	Engine string `json:"engine"`
	// Threads is that of the engine, or 0 if results do not depend on it.
	Threads int `json:"threads,omitempty"`
	Depth   int `json:"depth"`
	// Time is that of GRAND's integration forwards and back, else 0.
	Time float64 `json:"time,omitempty"`
	// Iterations are those per reverse layer (M in the paper), Lipschitz is the bound on Lip(h) (c in the paper).
	Iterations int     `json:"max_iterations"`
	Lipschitz  float64 `json:"lipschitz"`
	Hidden     int     `json:"hidden"`
	Seed       uint64  `json:"seed"`
	// MeanAbsError is the mean absolute difference between the encoded features and what Depth forward and Depth reverse
	// layers make of them (paper table 4), MeanAbsInput the mean absolute value of the encoded features.
	MeanAbsError Number `json:"mean_abs_error"`
	MeanAbsInput Number `json:"mean_abs_input"`
	// Residual[m] is the mean absolute change of the iterate in iteration m+1, averaged over the layers (paper figure 5);
	// empty for GRAND, which does not iterate.
	Residual []Number `json:"residual"`
}

// Invertible refuses a model without a reverse process, and names its variant with one: gcn+rep for gcn.
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

// Invert measures how well c.Forward reverse layers undo as many forward layers on a graph's encoded features. Each reverse
// layer takes exactly c.MaxIterations iterations Z = Y - h(Z) from Z = Y (algorithm 1 of the paper). Parameters are drawn by
// c.Seed; those with a bound are scaled so that the sum of their norms is c.Lipschitz. GRAND is integrated forwards and
// back.
func Invert(ctx context.Context, e *engine.Engine, g *graphs.Graph, c Config) (inv *Inversion, err error) {
	defer models.Recovered(&err)
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
