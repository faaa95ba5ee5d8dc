package models

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/loop"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	k := Kind{Name: "grand", Title: "GRAND",
		Layer:     "dX/dt = σ(α)(A − I) X to T_F, A scaled dot-product attention of the encoded features",
		Reference: "Chamberlain et al., GRAND: Graph Neural Diffusion, ICML 2021; paper section 3.2",
		Shared:    []string{"hidden", "heads", "dropout", "norm", "head-layers"},
		Own: OwnSettings(Diffusion{Time: 3, Solver: "rk4", Step: 0.5, TolScale: 1000, AttentionDim: 16,
			MaxEvaluations: 5000}, (*Diffusion).forward),
		Resolve: func(c *Config) {
			if c.HeadLayers == 0 {
				c.HeadLayers = 2
			}
		},
		Check: checkDiffusion, Depth: diffusionDepth,
		New: func(c Config) Network { return newDiffusion(c) }}
	Register(k)
	both := k.Own.defaults.(Diffusion)
	both.ReverseTime = 1
	k.Name, k.Title, k.Plain, k.Own = "grand+rep", "GRAND+ReP", k.Name, OwnSettings(both, (*Diffusion).both)
	Register(k)
}

// Diffusion holds the settings of GRAND.
type Diffusion struct {
	// Time is T_F, and ReverseTime is T_R. The features diffuse from time 0 forwards to T_F and, in a model with a
	// reverse process, from time 0 backwards to -T_R.
	Time, ReverseTime float64
	// Solver is the method of integration: "euler", "rk4" or "dopri5". Step is the step size of euler and rk4. dopri5
	// chooses its step sizes itself, so that the estimated error of each step stays within two tolerances:
	// TolScale · 1e-7 (absolute) and TolScale · 1e-9 (relative).
	Solver         string
	Step, TolScale float64
	// AttentionDim is the total width of the queries of all heads. The keys have the same total width. The paper's d' is
	// the width of one head, AttentionDim / heads.
	AttentionDim int
	// MaxEvaluations is the largest allowed number of evaluations of the diffusion equation's right-hand side in one
	// integration, forwards or backwards in time.
	MaxEvaluations int
}

// forward lists the settings of GRAND without a reverse process. [Diffusion.both] lists the settings of GRAND with a
// reverse process.
func (d *Diffusion) forward() []Setting {
	return []Setting{
		{Name: "time", Value: &d.Time, Help: "time to diffuse forwards", Most: 1e6},
		{Name: "solver", Value: &d.Solver, Help: "method of integration", OneOf: solve.MethodNames()},
		{Name: "step", Value: &d.Step, Help: "step of euler and rk4", Least: 1e-6, Most: 1e6},
		{Name: "tol-scale", Value: &d.TolScale, Help: "tolerance of dopri5, times 1e-7 absolute and 1e-9 relative",
			Least: 1e-6, Most: 1e6},
		{Name: "attention-dim", Value: &d.AttentionDim, Help: "width of queries and keys, of all heads together",
			Least: 1, Most: 1 << 14},
		{Name: "max-evaluations", Value: &d.MaxEvaluations,
			Help: "most evaluations of the diffusion in either direction", Least: 1, Most: 1 << 30},
	}
}

func (d *Diffusion) both() []Setting {
	return append(d.forward(),
		Setting{Name: "reverse-time", Value: &d.ReverseTime, Help: "time to diffuse backwards", Most: 1e6,
			Reverse: true})
}

// diffusionDepth says how deep GRAND is, as a text for users. GRAND has times in place of layers. The text is the time
// T_F of [Diffusion]. With a reverse process, it is T_F and T_R, with a slash between them.
func diffusionDepth(c Config) string {
	d := OwnOf[Diffusion](c)
	if c.HasReverse() {
		return fmt.Sprintf("%g/%g", d.Time, d.ReverseTime)
	}
	return fmt.Sprint(d.Time)
}

// checkDiffusion returns an error if settings contradict each other: for example, if AttentionDim is not a multiple of
// the number of heads.
func checkDiffusion(c Config) error {
	d := OwnOf[Diffusion](c)
	if d.AttentionDim%c.Heads != 0 {
		return fmt.Errorf("attention-dim is %d with %d heads: choose a positive multiple of the heads",
			d.AttentionDim, c.Heads)
	}
	if err := d.integration(d.Time).Validate(); err != nil {
		return err
	}
	return d.integration(-d.ReverseTime).Validate()
}

// integration describes an integration of the diffusion equation from time 0 to the time given by the argument to. As
// in the authors' code, the absolute tolerance is TolScale · 1e-7, and the relative tolerance is TolScale · 1e-9.
func (d Diffusion) integration(to float64) solve.Integration {
	m, _ := solve.MethodNamed(d.Solver) // Validate has checked the name
	return solve.Integration{Method: m, To: to, Step: d.Step, AbsTol: d.TolScale * 1e-7, RelTol: d.TolScale * 1e-9,
		MaxEvaluations: d.MaxEvaluations}
}

// grand is the network of GRAND. With a reverse process, it computes:
//
//	dX/dt = σ(α) (A(H) - I) X,  X(0) = H,  representation ReLU(X(T_F) ‖ X(-T_R))
//
// H holds the encoded features. A(H) is the matrix of the attention weights, which are computed only once, from H
// ([layers.Attention]). σ is the logistic function, and α is a trained number. The paper has neither σ(α) nor the ReLU;
// they come from the authors' code. The times T_F and T_R are the fields Time and ReverseTime of [Diffusion]. Without a
// reverse process, the representation is ReLU(X(T_F)).
type grand struct{ frame }

// diffusion is the [backbone] of GRAND: the diffusion of features between the encoder and the head.
type diffusion struct {
	Diffusion
	pattern *sparse.Pattern
}

func newDiffusion(c Config) grand { return grand{frame{&diffusion{Diffusion: OwnOf[Diffusion](c)}}} }

// attention is the prefix of the parameter names of two linear maps, Q and K. They compute the queries and the keys of
// the attention. The authors' files of weights also hold a third linear map, Wout, which this network does not read.
const attention = "odeblock.multihead_att_layer."

// Unused implements [Twin].
func (grand) Unused() []string { return []string{attention + "Wout.weight", attention + "Wout.bias"} }

func (d *diffusion) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	o := sparse.PatternOptions{Uses: sparse.ForGradients | sparse.ForDiagonal}
	if d.pattern, err = sparse.NewPattern(sparse.Adjacency(g).WithSelfLoops(), o); err != nil {
		return nil, nil, err
	}
	return d.pattern.Order(), d.pattern.Tensors(), nil
}

func (*diffusion) encoder() string                  { return "m1" }
func (*diffusion) head(i, _ int) string             { return fmt.Sprintf("m2%d", i+1) }
func (*diffusion) spread(_ *Builder, h *Node) *Node { return h }

func (d *diffusion) represent(b *Builder, h *Node) (*Node, *solve.Stats, int) {
	field, w := d.field(b, h)
	legs := []solve.Integration{d.integration(d.Time)}
	if b.Config.HasReverse() {
		legs = append(legs, d.integration(-d.ReverseTime))
	}
	ends := solve.IntegrateAll(field, h, w, legs...)
	x, stats := ends[0].Z, ends[0].Stats
	if len(ends) > 1 {
		x = Concatenate([]*Node{x, ends[1].Z}, 1)
		stats.Iterations = Add(stats.Iterations, ends[1].Iterations)
		stats.Outcome = Add(stats.Outcome, Mul(ends[1].Outcome, loop.Int(h.Graph(), outcomes)))
	}
	return Max(x, ZerosLike(x)), &stats, 1
}

// roundTrip integrates the diffusion equation from time 0 to T_F, and then from T_F back to 0. The argument h is the
// state at the start. The result end is the state at the end, which should equal h. The result changes is nil, since no
// fixed-point iteration is needed.
func (d *diffusion) roundTrip(b *Builder, h *Node) (end, changes *Node, stats *solve.Stats) {
	field, w := d.field(b, h)
	there := solve.Integrate(field, h, w, d.integration(d.Time))
	back := solve.Integrate(field, there.Z, w, d.integration(-d.Time))
	there.Outcome = Add(there.Outcome, Mul(back.Outcome, loop.Int(h.Graph(), outcomes*outcomes)))
	return back.Z, nil, &there.Stats
}

// field returns the right-hand side of the diffusion equation, and the list of the arrays that it reads. The argument h
// holds the encoded features, from which the attention is computed. The parameters start with the values of the
// authors' code. The linear maps Q and K give the queries and the keys of the attention. Their matrices start almost at
// zero, so that at first a node attends to all its neighbours alike. σ(α) starts at 1/2.
func (d *diffusion) field(b *Builder, h *Node) (solve.Field[layers.DiffusionWeights], layers.DiffusionWeights) {
	rate := Sigmoid(b.Param(Param{Name: "odeblock.odefunc.alpha_train", Shape: []int{}}))
	project := func(name string) *Node {
		w := b.Param(Param{Name: attention + name + ".weight",
			Shape: []int{d.AttentionDim, b.Config.Hidden}, Value: 1e-5})
		bias := b.Param(Param{Name: attention + name + ".bias", Shape: []int{d.AttentionDim},
			Limit: 1 / math.Sqrt(float64(b.Config.Hidden))})
		return Add(Dot(h, Transpose(w, 0, 1)).Product(), ExpandLeftToRank(bias, 2))
	}
	q := project("Q")
	edges := b.Edges(d.pattern).Bare()
	a := layers.Attention(edges, q, project("K"), b.Config.Heads)
	return layers.Diffusion{}, layers.NewDiffusionWeights(edges, a, rate)
}

// outcomes is the number of different outcomes of one integration. An outcome says whether, and why, the integration
// failed. The number Output.Stats.Outcome holds the outcomes of up to three integrations, as digits in a number system
// whose base is this constant. The lowest digit is the outcome of the integration from time 0 to T_F. The next digit is
// for the integration from 0 to -T_R, and the highest digit for the one from T_F back to 0.
const outcomes = solve.NotFinite + 1

// Explain implements [Explainer].
func (g grand) Explain(outcome int) string {
	d := g.backbone.(*diffusion)
	for _, to := range []float64{d.Time, -d.ReverseTime, -d.Time} {
		if s := d.integration(to).Explain(outcome % outcomes); s != "" {
			return s
		}
		outcome /= outcomes
	}
	return ""
}
