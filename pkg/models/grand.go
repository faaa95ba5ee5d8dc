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
		Own: diffusionSettings{Time: 3, Solver: "rk4", Step: 0.5, TolScale: 1000, AttentionDim: 16,
			MaxEvaluations: 5000},
		Resolve: func(c *Config) {
			if c.HeadLayers == 0 {
				c.HeadLayers = 2
			}
		},
		Check: checkDiffusion, Depth: diffusionDepth,
		New: func(c Config) Network { return newDiffusion(c) }}
	Register(k)
	k.Name, k.Title, k.Plain = "grand+rep", "GRAND+ReP", k.Name
	k.Own = Diffusion{k.Own.(diffusionSettings), 1}
	Register(k)
}

// diffusionSettings are the settings of GRAND. The paper's d' is AttentionDim / heads.
type diffusionSettings struct {
	Time           float64 `help:"time to diffuse forwards" most:"1e6"`
	Solver         string  `help:"method of integration" oneof:"euler,rk4,dopri5"`
	Step           float64 `help:"step of euler and rk4" least:"1e-6" most:"1e6"`
	TolScale       float64 `help:"tolerance of dopri5, times 1e-7 absolute and 1e-9 relative" least:"1e-6" most:"1e6"`
	AttentionDim   int     `help:"width of queries and keys, of all heads together" least:"1" most:"16384"`
	MaxEvaluations int     `help:"most evaluations of the diffusion in either direction" least:"1" most:"1073741824"`
}

// Diffusion are the settings of GRAND with a reverse process.
type Diffusion struct {
	diffusionSettings
	ReverseTime float64 `help:"time to diffuse backwards" most:"1e6" reverse:"true"`
}

// diffusionOf returns the settings of GRAND; without a reverse process, ReverseTime is 0.
func diffusionOf(c Config) Diffusion {
	if d, ok := c.Own.(Diffusion); ok {
		return d
	}
	return Diffusion{OwnOf[diffusionSettings](c), 0}
}

// diffusionDepth says how deep GRAND is, as a text for users. GRAND has times in place of layers. The text is the time
// T_F of [Diffusion]. With a reverse process, it is T_F and T_R, with a slash between them.
func diffusionDepth(c Config) string {
	d := diffusionOf(c)
	if c.HasReverse() {
		return fmt.Sprintf("%g/%g", d.Time, d.ReverseTime)
	}
	return fmt.Sprint(d.Time)
}

// checkDiffusion returns an error if settings contradict each other: for example, if AttentionDim is not a multiple of
// the number of heads.
func checkDiffusion(c Config) error {
	d := diffusionOf(c)
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

func newDiffusion(c Config) grand { return grand{frame{&diffusion{Diffusion: diffusionOf(c)}}} }

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
