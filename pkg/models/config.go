package models

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// Config is the configuration of a model. Each field with a tag is a setting that models share, by the field's name in
// lower case with dashes ("max-iterations"; in run records, "max_iterations"). Tags have the default, the limits and
// the help; see SettingsOf. A model has those shared settings that its [Kind] names; all others are zero.
type Config struct {
	// Model is one of [Names].
	Model string

	Forward    int     `default:"8" most:"1048576" help:"forward layers"`
	Reverse    int     `default:"8" most:"1048576" absent:"0" reverse:"true" help:"reverse layers"`
	Hidden     int     `default:"64" least:"1" most:"16384" help:"width of the layers"`
	Heads      int     `default:"1" least:"1" most:"64" absent:"1" help:"attention heads"`
	Dropout    float64 `most:"0.99" absent:"0" help:"probability of dropping a feature"`
	Activation string  `default:"relu" absent:"relu" oneof:"relu,leaky-relu,elu,tanh,softplus" help:"activation"`
	Ego        bool    `absent:"false" help:"give layers a weight for the node itself, apart from its neighbours"`
	// Lipschitz is the bound c < 1 on the sum of the norms of a layer's weights (paper section 3.3).
	// Normalise "project" keeps it after every step of the optimiser, as in the paper; "reparametrise" inside the model,
	// as in the authors' code.
	Lipschitz float64 `default:"0.999" least:"1e-6" most:"0.9999999" help:"bound on the norm of the layers' weights"`
	Bound     string  `default:"frobenius" oneof:"frobenius,spectral" help:"norm that is bounded; spectral is wider"`
	Normalise string  `default:"project" oneof:"project,reparametrise" help:"how the bound is kept"`
	// LayerInit "small" starts layers close to the identity, "glorot" as in the authors' code; see [Config.startNorm].
	LayerInit string `default:"small" oneof:"small,glorot" help:"initial weights of layers with a bound"`
	// Tolerance, MaxIterations and Adjoint are those of [solve.Options].
	Tolerance     float64 `default:"1e-5" most:"1" help:"mean absolute change at which a fixed-point iteration ends"`
	MaxIterations int     `default:"16" least:"1" most:"65536" help:"most fixed-point iterations per layer"`
	Adjoint       string  `default:"implicit" oneof:"implicit,unrolled" help:"gradient of a reverse layer"`

	// Norm is that of [Builder.Norm]; in the paper's models, it comes before the head.
	Norm string `default:"none" absent:"none" oneof:"none,layer,batch,instance" help:"normalisation"`
	// NormLayers is LayerNorm without parameters, or PairNorm with one factor for all rows (pair) or one each
	// (pair-si).
	NormLayers string  `default:"none" absent:"none" oneof:"none,layer,pair,pair-si" help:"normalisation after each layer"`
	NormScale  float64 `default:"1" least:"1e-6" most:"1e6" help:"length that PairNorm gives to a node's state"`
	// BlockGate and BlockNorm change h, and BlockScale is a factor s of its weights, h(X) = σ(s (Â X W + b)); the bound
	// on Lip(h) holds, times s. With s = L0/L, L layers train by the settings that suit L0: see [Builder.blockScaled].
	BlockGate  bool    `absent:"false" help:"a gate in (0, 1) for each channel of what layers add to a node"`
	BlockNorm  string  `default:"none" absent:"none" oneof:"none,center,center-nodes,ball" help:"normalisation of their input"`
	BlockScale float64 `default:"1" absent:"1" least:"1e-6" most:"1" help:"factor of the layers' weights and bias"`

	DropEdge     float64 `most:"1" absent:"0" help:"probability of dropping an edge in a training step (DropEdge)"`
	HalfHop      float64 `most:"1" absent:"0" help:"share of nodes whose edges lead through slow nodes (Half-Hop)"`
	HalfHopAlpha float64 `default:"0.5" most:"1" help:"weight of an edge's source in its slow node's features"`

	// The formula of the paper's section 3.3 has no bias; the authors' code has one.
	NoBias     bool `absent:"false" help:"leave the bias out of the layers"`
	HeadLayers int  `most:"16" help:"linear layers in the head, with ReLU between them (0: as the authors)"`
	Undirected bool `absent:"true" help:"leave out the directions of edges, where there are any"`

	// Own holds the model's own settings: see [OwnOf].
	Own any
}

// shared lists all shared settings. They point to the fields of c.
func (c *Config) shared() []Setting { return SettingsOf(reflect.ValueOf(c).Elem()) }

// usual has the defaults of the shared settings.
var usual = sync.OnceValue(func() (c Config) {
	for _, s := range c.shared() {
		if s.Default == "" {
			continue
		}
		if err := s.Parse(s.Default); err != nil {
			panic(err)
		}
	}
	return c
})

// Default has the default settings of a model. If there is no model of this name, only the field Model is set.
func Default(model string) Config {
	c := Config{Model: model}
	k, err := Lookup(model)
	if err != nil {
		return c
	}
	all := usual()
	if k.Defaults != nil {
		k.Defaults(&all)
	}
	fields := c.shared()
	for i, s := range all.shared() {
		if k.Has(s.Name) {
			fields[i].value.Set(s.value)
		}
	}
	c.Own = k.Own
	return c
}

// HasReverse tells whether the model has a reverse process.
func (c Config) HasReverse() bool { return registry[c.Model].Plain != "" }

// Contraction is s c, the bound on Lip(h): BlockScale times Lipschitz.
func (c Config) Contraction() float64 {
	if c.BlockScale == 0 { // the model does not have this setting
		return c.Lipschitz
	}
	return c.BlockScale * c.Lipschitz
}

// Depth is a short text: "8/16" for 8 forward and 16 reverse layers.
func (c Config) Depth() string {
	if k := registry[c.Model]; k.Depth != nil {
		return k.Depth(c)
	}
	if c.HasReverse() {
		return fmt.Sprintf("%d/%d", c.Forward, c.Reverse)
	}
	return fmt.Sprint(c.Forward)
}

// Resolved fills in the settings that depend on others, such as the number of layers of the head.
func (c Config) Resolved() Config {
	if k := registry[c.Model]; k.Resolve != nil {
		k.Resolve(&c)
	}
	return c
}

// Validate names the first setting that has an impossible value or that the model lacks, and says what to choose.
func (c Config) Validate() error {
	k, err := Lookup(c.Model)
	if err != nil {
		return err
	}
	if have, want := fmt.Sprintf("%T", c.Own), fmt.Sprintf("%T", k.Own); have != want {
		return fmt.Errorf("the configuration of %s has settings of another model (%s): begin with models.Default(%q)",
			c.Model, have, c.Model)
	}
	for _, s := range c.shared() {
		if !k.Has(s.Name) && !s.value.IsZero() {
			return c.refuse(s.Name)
		}
	}
	for _, s := range c.Settings() {
		if err := s.Check(); err != nil {
			return err
		}
	}
	if k.Check != nil {
		return k.Check(c)
	}
	return nil
}

// InputGraph is the graph as the model reads it: without directions, unless its setting "undirected" is there and
// false.
func (c Config) InputGraph(g *graphs.Graph) *graphs.Graph {
	if registry[c.Model].Has("undirected") && !c.Undirected {
		return g
	}
	return g.Undirected()
}

// Pretraining is the number of epochs of pretraining; see [Kind].
func (c Config) Pretraining() int {
	if k := registry[c.Model]; k.Pretraining != nil {
		return k.Pretraining(c.Resolved())
	}
	return 0
}

// Explain says why a computation with the given Output.Stats.Outcome failed, or "".
func (c Config) Explain(outcome int) string {
	if k := registry[c.Model]; k.Explain != nil {
		return k.Explain(c, outcome)
	}
	return ""
}

// Unused lists the arrays that a file of weights may have beside those that the model reads; see [Kind].
func (c Config) Unused() []string {
	if k := registry[c.Model]; k.Unused != nil {
		return k.Unused(c)
	}
	return nil
}
