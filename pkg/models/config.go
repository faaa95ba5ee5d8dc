package models

import (
	"fmt"
	"strings"

	"github.com/revgnn/revgnn/pkg/layers"
)

// Config is the configuration of a model. Each field except Model and Own is a shared setting. On the command line, a
// setting has the name of its field in lower case, with dashes between words ("max-iterations"). In run records, it has
// underscores between words. A model has only those shared settings that its [Kind] names; all others are zero.
type Config struct {
	// Model is one of [Names].
	Model string
	// Forward is the number L_F of forward layers. Reverse is the number L_R of reverse layers.
	Forward, Reverse int
	// Hidden is the width d of all layers.
	Hidden int
	// Heads is the number K of attention heads.
	Heads int
	// Dropout is the probability with which training sets an entry of the features to 0.
	Dropout float64
	// Activation is the activation function of the layers, one of layers.Activations.
	Activation string
	// Ego gives layers a weight for the node itself, besides the weight for its neighbours.
	Ego bool
	// Lipschitz is the bound c < 1 on the norm of the layers' weights (paper section 3.3). Bound chooses the norm:
	// "frobenius", as in the paper, or "spectral". Normalise chooses how the bound is kept. "project" scales the
	// weights after every step of the optimiser, as in the paper. "reparametrise" scales them inside the model, as in
	// the authors' code.
	Lipschitz        float64
	Bound, Normalise string
	// LayerInit chooses the initial weights of layers with a bound: "small", so that each layer starts close to the
	// identity, or "glorot", as in the authors' code; see [Config.startNorm].
	LayerInit string
	// NoBias leaves out the layers' bias b. The formula of the paper's section 3.3 has no bias, but the authors' code
	// has one. With many layers and a small bound on the weight W, the bias has more effect than W.
	NoBias bool
	// Tolerance ends a solve: the solve stops when the mean absolute change in one iteration is below Tolerance. An
	// adjoint solve is the fixed-point iteration for the gradient. Its limit is 10 times Tolerance, multiplied by the
	// mean absolute value of the right-hand side of its equation; see [solve.Options]. MaxIterations (the paper's M) is
	// the largest number of iterations of a solve.
	Tolerance     float64
	MaxIterations int
	// Adjoint chooses how the gradient of a reverse layer is computed. "implicit" differentiates the equation of the
	// fixed point, and stores no iterations. "unrolled" differentiates all iterations.
	Adjoint string
	// Norm is the normalisation that [Builder.Norm] applies: "none", "layer" (LayerNorm), "batch" (BatchNorm) or
	// "instance" (InstanceNorm). GRAND and the networks with layers X + h(X) apply it before the head.
	Norm string
	// NormLayers is the normalisation after every layer: "none", "layer" (LayerNorm without parameters), "pair" or
	// "pair-si". "pair" is PairNorm, which multiplies all rows by the same factor. "pair-si" is the variant of PairNorm
	// that has a factor for each row. NormScale sets the length that PairNorm gives to rows; see [layers.PairNorm].
	NormLayers string
	NormScale  float64
	// BlockGate multiplies each entry of h(X) by a trained gate, a factor between 0 and 1: see [gatedBlock]. BlockNorm
	// is the normalisation of the input of h: "none" or one of layers.Projections. The bound that Lipschitz sets for h
	// also holds with these settings.
	BlockGate bool
	BlockNorm string
	// BlockScale is a factor s of the weights and the bias of every layer: h(X) = σ(s (Â X W + b)). If the norm of the
	// weights is at most c, then Lip(h) <= s c. With s = L0/L, a chain of L layers can be trained with the settings
	// that suit a chain of L0 layers: see [Builder.blockScaled].
	BlockScale float64
	// DropEdge is the probability with which a training step leaves an edge out.
	DropEdge float64
	// HalfHop is the share of nodes that Half-Hop chooses. Every edge into a chosen node is split in two by an
	// additional node, called a slow node. HalfHopAlpha is the weight of the edge's source in the features of the slow
	// node; see [halfHop].
	HalfHop, HalfHopAlpha float64
	// HeadLayers is the number of linear layers in the head, with ReLU between them. 0 stands for the number that the
	// authors chose.
	HeadLayers int
	// Undirected makes a model ignore the directions of edges. Only models that read directions have this setting: see
	// [Seen].
	Undirected bool
	// Own holds the model's own settings. Its type is one that the model's file declares: see [OwnOf].
	Own any
}

// shared returns the descriptions of all shared settings. They point to the fields of c.
func (c *Config) shared() []Setting {
	return []Setting{
		{Name: "forward", Value: &c.Forward, Help: "forward layers", Most: 1 << 20},
		{Name: "reverse", Value: &c.Reverse, Help: "reverse layers", Most: 1 << 20, Absent: 0, Reverse: true},
		{Name: "hidden", Value: &c.Hidden, Help: "width of the layers", Least: 1, Most: 1 << 14},
		{Name: "heads", Value: &c.Heads, Help: "attention heads", Least: 1, Most: 64, Absent: 1},
		{Name: "dropout", Value: &c.Dropout, Help: "probability of dropping a feature", Most: 0.99, Absent: 0.0},
		{Name: "activation", Value: &c.Activation,
			Help:  "activation of the layers: " + strings.Join(layers.Activations, ", "),
			OneOf: layers.Activations, Absent: string(layers.ActivationReLU)},
		{Name: "ego", Value: &c.Ego, Absent: false,
			Help: "give layers a weight for the node itself, apart from its neighbours"},
		{Name: "lipschitz", Value: &c.Lipschitz, Help: "bound on the norm of the layers' weights, below 1",
			Least: 1e-6, Most: 0.9999999},
		{Name: "bound", Value: &c.Bound, Help: "norm that is bounded: frobenius (the paper's) or spectral (wider)",
			OneOf: []string{string(layers.FrobeniusNorm), string(layers.SpectralNorm)}},
		{Name: "normalise", Value: &c.Normalise,
			Help:  "how the bound is kept: project (after every step) or reparametrise (inside the model)",
			OneOf: []string{"project", "reparametrise"}},
		{Name: "layer-init", Value: &c.LayerInit,
			Help:  "initial weights of layers with a bound: small (near the identity) or glorot (as the authors)",
			OneOf: []string{"small", "glorot"}},
		{Name: "tolerance", Value: &c.Tolerance,
			Help: "mean absolute change at which a fixed-point iteration ends", Most: 1},
		{Name: "max-iterations", Value: &c.MaxIterations, Help: "most fixed-point iterations per layer",
			Least: 1, Most: 1 << 16},
		{Name: "adjoint", Value: &c.Adjoint,
			Help:  "gradient of a reverse layer: implicit (of the fixed point) or unrolled (of the iterations)",
			OneOf: []string{"implicit", "unrolled"}},
		{Name: "norm", Value: &c.Norm, Help: "normalisation: none, layer, batch or instance",
			OneOf: []string{"none", "layer", "batch", "instance"}, Absent: "none"},
		{Name: "norm-layers", Value: &c.NormLayers, Help: "normalisation after every layer: none, " +
			"layer (LayerNorm without parameters), pair (PairNorm) or pair-si (PairNorm, each node by itself)",
			OneOf: []string{"none", "layer", "pair", "pair-si"}, Absent: "none"},
		{Name: "norm-scale", Value: &c.NormScale, Help: "length that PairNorm gives to a node's state",
			Least: 1e-6, Most: 1e6},
		{Name: "block-gate", Value: &c.BlockGate, Help: "scale what layers add to a node by a gate for each channel, " +
			"sigmoid(H U + u) of the first layer's input H; the bound holds", Absent: false},
		{Name: "block-norm", Value: &c.BlockNorm, Help: "normalisation of what layers read; the bound holds: none, " +
			"center (rows of mean 0), center-nodes (columns of mean 0) or ball (rows no longer than sqrt(hidden))",
			OneOf: append([]string{"none"}, layers.Projections...), Absent: "none"},
		{Name: "block-scale", Value: &c.BlockScale, Help: "factor of the layers' weights and bias: with L0/L, a chain of " +
			"L layers trains by the settings that suit L0", Least: 1e-6, Most: 1, Absent: 1.0},
		{Name: "drop-edge", Value: &c.DropEdge, Help: "probability of dropping an edge in a training step (DropEdge)",
			Most: 1, Absent: 0.0},
		{Name: "half-hop", Value: &c.HalfHop,
			Help: "share of the nodes whose incoming edges lead through slow nodes (Half-Hop)", Most: 1, Absent: 0.0},
		{Name: "half-hop-alpha", Value: &c.HalfHopAlpha,
			Help: "weight of an edge's source in its slow node's features", Most: 1},
		{Name: "no-bias", Value: &c.NoBias, Help: "leave the bias out of the layers, " +
			"as the paper's formula does (the authors' code has it)", Absent: false},
		{Name: "head-layers", Value: &c.HeadLayers, Help: "linear layers in the head (0: as the authors)", Most: 16},
		{Name: "undirected", Value: &c.Undirected, Help: "leave out the directions of edges, where there are any",
			Absent: true},
	}
}

// usual returns the defaults of the shared settings. With 8 layers of width 64 in each direction, models train well in
// seconds on the smaller datasets.
func usual() Config {
	return Config{Forward: 8, Reverse: 8, Hidden: 64, Heads: 1, Activation: string(layers.ActivationReLU),
		Lipschitz: 0.999, Bound: string(layers.FrobeniusNorm), Normalise: "project",
		LayerInit: "small", Tolerance: 1e-5, MaxIterations: 16, Adjoint: "implicit",
		Norm: "none", NormLayers: "none", NormScale: 1, BlockNorm: "none", BlockScale: 1, HalfHopAlpha: 0.5}
}

// Default returns a model's configuration with default settings. If there is no model of this name, only the field
// Model is set.
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
			copyValue(fields[i], s)
		}
	}
	c.Own = k.Own.defaults
	return c
}

// copyValue gives the first setting the value of the second one. Both have the same type.
func copyValue(to, from Setting) {
	switch v := to.Value.(type) {
	case *int:
		*v = *from.Value.(*int)
	case *float64:
		*v = *from.Value.(*float64)
	case *bool:
		*v = *from.Value.(*bool)
	case *string:
		*v = *from.Value.(*string)
	}
}

// HasReverse tells whether the model has a reverse process.
func (c Config) HasReverse() bool { return registry[c.Model].Plain != "" }

// Contraction returns s c, the bound on Lip(h) for the branch h of the layers. The setting Lipschitz is c, the bound on
// the norm of the weights. The setting BlockScale is s, which multiplies the weights.
func (c Config) Contraction() float64 {
	if c.BlockScale == 0 { // the model does not have this setting
		return c.Lipschitz
	}
	return c.BlockScale * c.Lipschitz
}

// Depth returns the depth of the configuration as a short text: "8/16" for 8 forward and 16 reverse layers.
func (c Config) Depth() string {
	if k := registry[c.Model]; k.Depth != nil {
		return k.Depth(c)
	}
	if c.HasReverse() {
		return fmt.Sprintf("%d/%d", c.Forward, c.Reverse)
	}
	return fmt.Sprint(c.Forward)
}

// Resolved returns the configuration after filling in the settings that depend on other settings, such as the number of
// layers of the head.
func (c Config) Resolved() Config {
	if k := registry[c.Model]; k.Resolve != nil {
		k.Resolve(&c)
	}
	return c
}

// Validate returns an error if a setting has an impossible value, or if the model does not have the setting. The error
// names the first such setting, and says what to choose instead.
func (c Config) Validate() error {
	k, err := Lookup(c.Model)
	if err != nil {
		return err
	}
	if have, want := fmt.Sprintf("%T", c.Own), fmt.Sprintf("%T", k.Own.defaults); have != want {
		return fmt.Errorf("the configuration of %s has settings of another model (%s): begin with models.Default(%q)",
			c.Model, have, c.Model)
	}
	for _, s := range c.shared() {
		if !k.Has(s.Name) && !s.isZero() {
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
