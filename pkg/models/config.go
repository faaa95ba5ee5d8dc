package models

import "fmt"

// Config describes a model; its settings have the names of the command line and of run records. A model has some of
// the shared settings, which its [Kind] names, and may have its own; those that it does not have are zero.
type Config struct {
	// Model is one of [Names].
	Model string
	// Forward and Reverse are the numbers of layers L_F and L_R.
	Forward, Reverse int
	// Hidden is the width d of all layers.
	Hidden int
	// Heads is the number K of attention heads.
	Heads int
	// Dropout is the probability of dropping a feature.
	Dropout float64
	// Lipschitz is the bound c < 1 on the Frobenius norm of W (paper section 3.3), and Normalise how it is
	// kept: "project" scales W after every step, as the paper says; "reparametrise" scales it inside the model,
	// as the authors' code does.
	Lipschitz float64
	Normalise string
	// NoBias leaves b out of the layers, as in the formula of the paper's section 3.3; the authors' code has it. Where
	// c is small and the chain deep, b outweighs W and moves all nodes alike.
	NoBias bool
	// Tolerance ends a fixed-point iteration: mean absolute change of an iterate; in the adjoint solve ten times as
	// much, relative to the right-hand side. MaxIterations limits both (the paper's M).
	Tolerance     float64
	MaxIterations int
	// Adjoint is "implicit" (gradient of the fixed point, O(1) memory) or "unrolled" (of the iterations).
	Adjoint string
	// Norm is the normalisation: "none", "layer" or "batch".
	Norm string
	// HeadLayers is the number of linear layers in the head, with ReLU between; 0 takes the authors'.
	HeadLayers int
	// Own holds the settings that only this model has, of a type that its file declares: see [OwnOf].
	Own any
}

// shared lists the settings that models share.
func (c *Config) shared() []Setting {
	return []Setting{
		{Name: "forward", Value: &c.Forward, Help: "forward layers", Most: 1 << 20},
		{Name: "reverse", Value: &c.Reverse, Help: "reverse layers", Most: 1 << 20, Absent: 0, Reverse: true},
		{Name: "hidden", Value: &c.Hidden, Help: "width of the layers", Least: 1, Most: 1 << 14},
		{Name: "heads", Value: &c.Heads, Help: "attention heads", Least: 1, Most: 64, Absent: 1},
		{Name: "dropout", Value: &c.Dropout, Help: "probability of dropping a feature", Most: 0.99, Absent: 0.0},
		{Name: "lipschitz", Value: &c.Lipschitz, Help: "bound on the Frobenius norm of the weight, below 1",
			Least: 1e-6, Most: 0.9999999},
		{Name: "normalise", Value: &c.Normalise,
			Help:  "how the bound is kept: project (after every step) or reparametrise (inside the model)",
			OneOf: []string{"project", "reparametrise"}},
		{Name: "tolerance", Value: &c.Tolerance,
			Help: "mean absolute change at which a fixed-point iteration ends", Most: 1},
		{Name: "max-iterations", Value: &c.MaxIterations, Help: "most fixed-point iterations per layer",
			Least: 1, Most: 1 << 16},
		{Name: "adjoint", Value: &c.Adjoint,
			Help:  "gradient of a reverse layer: implicit (of the fixed point) or unrolled (of the iterations)",
			OneOf: []string{"implicit", "unrolled"}},
		{Name: "norm", Value: &c.Norm, Help: "normalisation: none, layer or batch",
			OneOf: []string{"none", "layer", "batch"}, Absent: "none"},
		{Name: "no-bias", Value: &c.NoBias, Help: "leave the bias out of the layers, " +
			"as the paper's formula does (the authors' code has it)", Absent: false},
		{Name: "head-layers", Value: &c.HeadLayers, Help: "linear layers in the head (0: as the authors)", Most: 16},
	}
}

// usual are the defaults of the shared settings: what trains well in seconds on the smaller datasets, 8 layers of
// width 64 in each direction.
func usual() Config {
	return Config{Forward: 8, Reverse: 8, Hidden: 64, Heads: 1, Lipschitz: 0.999, Normalise: "project",
		Tolerance: 1e-5, MaxIterations: 16, Adjoint: "implicit", Norm: "none"}
}

// Default is a model's configuration unless settings are chosen. Of a model that does not
// exist, it has the name alone.
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
	for i, s := range all.shared() {
		if k.Has(s.Name) {
			copyValue(c.shared()[i], s)
		}
	}
	c.Own = k.Own.defaults
	return c
}

// copyValue sets one setting to the value of another of the same type.
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

// Depth says how deep the configuration is, in a word or two: "8/16" for 8 forward and 16 reverse layers.
func (c Config) Depth() string {
	if k := registry[c.Model]; k.Depth != nil {
		return k.Depth(c)
	}
	if c.HasReverse() {
		return fmt.Sprintf("%d/%d", c.Forward, c.Reverse)
	}
	return fmt.Sprint(c.Forward)
}

// Resolved fills in what depends on other settings, such as the layers of the head.
func (c Config) Resolved() Config {
	if k := registry[c.Model]; k.Resolve != nil {
		k.Resolve(&c)
	}
	return c
}

// Validate returns an error that names the first impossible setting, or one that the model does not have,
// and what to choose instead.
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
