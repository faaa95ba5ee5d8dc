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
		Weighted:  true,
		Own: diffusionSettings{Time: 3, Solver: "rk4", Step: 0.5, TolScale: 1000, AttentionDim: 16,
			MaxEvaluations: 5000},
		Resolve: func(c *Config) {
			if c.HeadLayers == 0 {
				c.HeadLayers = 2
			}
		},
		Check: checkDiffusion, Explain: explainDiffusion,
		Depth: func(c Config) string {
			d := diffusionOf(c)
			if c.HasReverse() {
				return fmt.Sprintf("%g/%g", d.Time, d.ReverseTime)
			}
			return fmt.Sprint(d.Time)
		},
		Unused: func(Config) []string { return []string{attention + "Wout.weight", attention + "Wout.bias"} },
		New: func(c Config) Network {
			head := func(i, _ int) string { return fmt.Sprintf("m2%d", i+1) }
			return &grand{frame: frame{encoder: "m1", head: head}, Diffusion: diffusionOf(c)}
		}}
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

// checkDiffusion refuses settings that contradict each other.
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

// integration is one of the diffusion equation from time 0. The tolerances are as in the authors' code.
func (d Diffusion) integration(to float64) solve.Integration {
	m, _ := solve.MethodNamed(d.Solver) // Validate has checked the name
	return solve.Integration{Method: m, To: to, Step: d.Step, AbsTol: d.TolScale * 1e-7, RelTol: d.TolScale * 1e-9,
		MaxEvaluations: d.MaxEvaluations}
}

// grand is the network of GRAND. With a reverse process, it computes:
//
//	dX/dt = σ(α) (A(H) - I) X,  X(0) = H,  representation ReLU(X(T_F) ‖ X(-T_R))
//
// A(H) are the attention weights, computed once from the encoded features H and the edges' weights
// ([layers.Attention]); σ is the logistic function, α is trained. σ(α) and the ReLU are not in the paper, but in the
// authors' code. T_F and T_R are Time and ReverseTime. Without a reverse process, the representation is ReLU(X(T_F)).
type grand struct {
	frame
	Diffusion
	pattern *sparse.Pattern
	weights *tensors.Tensor // logarithms of the edges' weights, [places, 1], or nil
}

// attention begins the names of the linear maps Q and K, which compute queries and keys. The authors' files also have a
// third one, Wout, which is not read.
const attention = "odeblock.multihead_att_layer."

func (d *grand) Prepare(g *graphs.Graph, a *Arrays) {
	adjacency := sparse.Adjacency(g).WithSelfLoops()
	d.pattern = a.Pattern(adjacency, sparse.PatternOptions{Uses: sparse.ForGradients | sparse.ForDiagonal})
	if g.Weighted() {
		var logs []float32
		for _, w := range adjacency.Weight {
			logs = append(logs, float32(math.Log(float64(w))))
		}
		places := sparse.Spread(d.pattern, logs, 1)
		d.weights = a.Add(tensors.FromFlatDataAndDimensions(places, len(places), 1))
	}
}

func (d *grand) Build(b *Builder) (out Output) {
	h := d.encode(b)
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
	out.Representation, out.Stats, out.Solves = relu(x), &stats, 1
	out.Logits = d.readout(b, out.Representation)
	return out
}

// RoundTrip implements [Inverter]: it integrates from time 0 to T_F, and back to 0.
func (d *grand) RoundTrip(b *Builder) (start, end, changes *Node, stats *solve.Stats) {
	start = d.encode(b)
	field, w := d.field(b, start)
	there := solve.Integrate(field, start, w, d.integration(d.Time))
	back := solve.Integrate(field, there.Z, w, d.integration(-d.Time))
	there.Outcome = Add(there.Outcome, Mul(back.Outcome, loop.Int(start.Graph(), outcomes*outcomes)))
	return start, back.Z, nil, &there.Stats
}

// field is the right-hand side of the diffusion equation, with what it reads. Parameters start as in the authors' code:
// the matrices of Q and K almost at zero, so that a node attends to all its neighbours alike, and σ(α) at 1/2.
func (d *grand) field(b *Builder, h *Node) (solve.Field[layers.DiffusionWeights], layers.DiffusionWeights) {
	rate := Sigmoid(b.Param(Param{Name: "odeblock.odefunc.alpha_train", Shape: []int{}}))
	project := func(name string) *Node {
		w := b.Param(Param{Name: attention + name + ".weight",
			Shape: []int{d.AttentionDim, b.Config.Hidden}, Value: 1e-5})
		bias := b.Param(Param{Name: attention + name + ".bias", Shape: []int{d.AttentionDim},
			Limit: 1 / math.Sqrt(float64(b.Config.Hidden))})
		return affine(h, w, bias)
	}
	q := project("Q")
	edges := b.Edges(d.pattern).Bare()
	var weights *Node
	if d.weights != nil {
		weights = b.Array(d.weights)
	}
	a := layers.Attention(edges, q, project("K"), weights, b.Config.Heads)
	return layers.Diffusion{}, layers.NewDiffusionWeights(edges, a, rate)
}

// outcomes is the number of outcomes of one integration. Output.Stats.Outcome has up to three as digits in this base,
// the lowest first: those of 0 to T_F, of 0 to -T_R, and of T_F back to 0.
const outcomes = solve.NotFinite + 1

func explainDiffusion(c Config, outcome int) string {
	d := diffusionOf(c)
	for _, to := range []float64{d.Time, -d.ReverseTime, -d.Time} {
		if s := d.integration(to).Explain(outcome % outcomes); s != "" {
			return s
		}
		outcome /= outcomes
	}
	return ""
}
