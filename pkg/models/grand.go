package models

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// grand is the diffusion backbone (Chamberlain et al., GRAND: Graph Neural Diffusion, ICML 2021; paper section 3.2):
//
//	dX/dt = σ(α) (A(H) - I) X,  X(0) = H,  representation ReLU(X(T_F) ‖ X(-T_R)),
//
// with the attention A of the encoded features H, computed once ([layers.Attention]); plain GRAND has X(T_F) alone.
type grand struct{ pattern *sparse.Pattern }

// Diffusion holds the settings of GRAND. They are empty for other models.
type Diffusion struct {
	// Time T_F and ReverseTime T_R: the features diffuse forwards to T_F and, with reverse process, backwards to -T_R.
	Time        float64 `json:"time,omitempty"`
	ReverseTime float64 `json:"reverse_time,omitempty"`
	// Solver is one of solve.MethodNames: euler and rk4 take steps of size Step; dopri5 chooses them so that a step's error
	// stays below TolScale times 1e-7 absolute and 1e-9 relative.
	Solver   string  `json:"solver,omitempty"`
	Step     float64 `json:"step,omitempty"`
	TolScale float64 `json:"tol_scale,omitempty"`
	// AttentionDim is the width of all heads' queries together, and of their keys.
	AttentionDim int `json:"attention_dim,omitempty"`
	// MaxEvaluations limits the evaluations of the right-hand side in either direction.
	MaxEvaluations int `json:"max_evaluations,omitempty"`
}

// isGRAND tells whether the model diffuses.
func (c Config) isGRAND() bool { return c.Model == GRAND || c.Model == GRANDRep }

// defaultDiffusion is a diffusion of a few Runge-Kutta steps in each direction.
func defaultDiffusion(model string) (d Diffusion) {
	switch model {
	case GRANDRep:
		d.ReverseTime = 1
		fallthrough
	case GRAND:
		d.Time, d.Solver, d.Step, d.TolScale, d.AttentionDim, d.MaxEvaluations = 3, "rk4", 0.5, 1000, 16, 5000
	}
	return d
}

// attention is the name before its linear maps Q and K, and of Wout, which the authors' files hold though nothing reads it.
const attention = "odeblock.multihead_att_layer."

func (b *grand) adjacency(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	o := sparse.PatternOptions{Uses: sparse.ForGradients | sparse.ForDiagonal}
	if b.pattern, err = sparse.NewPattern(sparse.Adjacency(g).WithSelfLoops(), o); err != nil {
		return nil, nil, err
	}
	return b.pattern.Order(), b.pattern.Tensors(), nil
}

// params start as in the authors' code: the maps of the attention almost zero, so that every node attends to all its
// neighbours alike, and σ(α) = 1/2.
func (*grand) params(c Config) []Param {
	limit := 1 / math.Sqrt(float64(c.Hidden))
	list := []Param{{Name: "odeblock.odefunc.alpha_train", Shape: []int{}}}
	for _, name := range []string{"Q", "K"} {
		list = append(list, Param{Name: attention + name + ".weight", Shape: []int{c.AttentionDim, c.Hidden}, Value: 1e-5},
			Param{Name: attention + name + ".bias", Shape: []int{c.AttentionDim}, Limit: limit})
	}
	return list
}

func (*grand) encoder() string      { return "m1" }
func (*grand) head(i, _ int) string { return fmt.Sprintf("m2%d", i+1) }

func (b *grand) represent(m *Model, scope *model.Scope, h *Node, adjacency []*Node) (*Node, *solve.Stats) {
	field, w := b.field(m, scope, h, adjacency)
	legs := []solve.Integration{m.Config.integration(m.Config.Time)}
	if m.Config.HasReverse() {
		legs = append(legs, m.Config.integration(-m.Config.ReverseTime))
	}
	ends, each := solve.IntegrateAll(field, h, w, legs...)
	x, stats := ends[0], each[0]
	if len(ends) > 1 {
		x = Concatenate(ends, 1)
		more := each[1]
		stats.Iterations = Add(stats.Iterations, more.Iterations)
		stats.AdjointIterations = Add(stats.AdjointIterations, more.AdjointIterations)
		stats.Outcome = Add(stats.Outcome, Mul(more.Outcome, loop.Int(h.Graph(), outcomes)))
	}
	return Max(x, ZerosLike(x)), stats
}

// roundTrip integrates to time T_F and back.
func (b *grand) roundTrip(m *Model, scope *model.Scope, h *Node, adjacency []*Node) (end, changes *Node, stats *solve.Stats) {
	field, w := b.field(m, scope, h, adjacency)
	y, stats := solve.Integrate(field, h, w, m.Config.integration(m.Config.Time))
	end, back := solve.Integrate(field, y, w, m.Config.integration(-m.Config.Time))
	stats.Outcome = Add(stats.Outcome, Mul(back.Outcome, loop.Int(h.Graph(), outcomes)))
	return end, nil, stats
}

// Unused names arrays that weights of the model may hold though it has no use for them.
func (m *Model) Unused() []string {
	if m.Config.isGRAND() {
		return []string{attention + "Wout.weight", attention + "Wout.bias"}
	}
	return nil
}

// field is the diffusion with attention from the encoded features.
func (b *grand) field(m *Model, scope *model.Scope, h *Node, adjacency []*Node) (solve.Field, []*Node) {
	q, k := m.linear(scope, attention+"Q", h), m.linear(scope, attention+"K", h)
	a := layers.Attention(b.pattern.Bare(adjacency), q, k, m.Config.Heads)
	rate := Sigmoid(m.value(scope, h.Graph(), "odeblock.odefunc.alpha_train"))
	field := layers.Diffusion{Pattern: b.pattern}
	return field, field.Weights(a, rate, adjacency)
}

// outcomes is the number of outcomes of an integration: that of the way back counts in multiples of it.
const outcomes = solve.NotFinite + 1

// Explain says in a sentence why what the model computed means nothing, for an Output.Stats.Outcome; it is empty where all
// is well.
func (m *Model) Explain(outcome int) string {
	if s := m.Config.integration(m.Config.Time).Explain(outcome % outcomes); s != "" {
		return s
	}
	return m.Config.integration(-m.Config.ReverseTime).Explain(outcome / outcomes)
}

// integration to a time, with the authors' tolerances: tol-scale times 1e-7 absolute and 1e-9 relative.
func (c Config) integration(to float64) solve.Integration {
	m, _ := solve.MethodNamed(c.Solver) // its name is checked by Validate
	return solve.Integration{Method: m, To: to, Step: c.Step, AbsTol: c.TolScale * 1e-7, RelTol: c.TolScale * 1e-9, MaxEvaluations: c.MaxEvaluations}
}

// validateGRAND checks the settings of the diffusion.
func (c Config) validateGRAND() error {
	if c.NoBias {
		return fmt.Errorf("no-bias is for gcn and gat: %s has no bias in its layers", c.Model)
	}
	if c.AttentionDim < 1 || c.AttentionDim > 1<<14 || c.Heads < 1 || c.AttentionDim%c.Heads != 0 {
		return fmt.Errorf("attention-dim is %d with %d heads: choose a positive multiple of the heads", c.AttentionDim, c.Heads)
	}
	if _, err := solve.MethodNamed(c.Solver); err != nil {
		return err
	}
	for _, n := range []struct {
		name  string
		value float64
		least float64
	}{{"time", c.Time, 0}, {"reverse-time", c.ReverseTime, 0}, {"step", c.Step, 1e-6}, {"tol-scale", c.TolScale, 1e-6}} {
		if !(n.value >= n.least && n.value <= 1e6) {
			return fmt.Errorf("%s is %g: choose a number from %g to 1e6", n.name, n.value, n.least)
		}
	}
	if err := c.integration(c.Time).Validate(); err != nil {
		return err
	}
	return c.integration(-c.ReverseTime).Validate()
}
