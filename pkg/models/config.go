package models

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Config describes a model; its field names are those of the command line and of run records.
type Config struct {
	// Model is one of [Names].
	Model string `json:"model"`
	// Forward and Reverse are the numbers of layers L_F and L_R. Plain models have no reverse layers.
	Forward int `json:"forward"`
	Reverse int `json:"reverse"`
	// Hidden is the width d of all layers.
	Hidden int `json:"hidden"`
	// Heads is the number K of attention heads, which are averaged; GCN has none.
	Heads int `json:"heads"`
	// Dropout is the probability of dropping a feature behind the encoder.
	Dropout float64 `json:"dropout"`
	// Lipschitz is the bound c < 1 on the Frobenius norm of W (paper section 3.3), and Normalise how it is kept: "project"
	// scales W after every step, as the paper says; "reparametrise" scales it inside the model, as the authors' code does.
	Lipschitz float64 `json:"lipschitz"`
	Normalise string  `json:"normalise"`
	// NoBias leaves b out of the layers of GCN and GAT, as in the formula of the paper's section 3.3; the authors' code has it. Where
	// c is small and the chain deep, b outweighs W and moves all nodes alike.
	NoBias bool `json:"no_bias,omitempty"`
	// Tolerance ends a fixed-point iteration: mean absolute change of an iterate; in the adjoint solve ten times as much,
	// relative to the right-hand side. MaxIterations limits both (the paper's M).
	Tolerance     float64 `json:"tolerance"`
	MaxIterations int     `json:"max_iterations"`
	// Adjoint is "implicit" (gradient of the fixed point, O(1) memory) or "unrolled" (of the iterations).
	Adjoint string `json:"adjoint"`
	// Norm of the representation before the head: "none", "layer" or "batch".
	Norm string `json:"norm"`
	// HeadLayers is the number of linear layers in the head, with ReLU between; 0 takes the authors': 1 with reverse
	// layers, 2 without.
	HeadLayers int `json:"head_layers"`
	// Diffusion holds the settings of GRAND.
	Diffusion
}

// The models.
const (
	GCN    = "gcn"
	GCNRep = "gcn+rep"
	GAT    = "gat"
	GATRep = "gat+rep"
	// GRAND is a diffusion; see [Diffusion] for its settings.
	GRAND    = "grand"
	GRANDRep = "grand+rep"
)

// Names lists the models.
func Names() []string { return []string{GCN, GCNRep, GAT, GATRep, GRAND, GRANDRep} }

// Default is a configuration that trains well in seconds on the smaller datasets: 8 layers of width 64 in each direction.
func Default(model string) Config {
	return Config{Model: model, Forward: 8, Reverse: 8, Hidden: 64, Heads: 1, Lipschitz: 0.999, Normalise: "project",
		Tolerance: 1e-5, MaxIterations: 16, Adjoint: "implicit", Norm: "none", Diffusion: defaultDiffusion(model)}
}

// Solves is the number of solves that iterations are averaged over: the reverse layers, or 1 for an integration both ways.
func (c Config) Solves() int {
	if c.isGRAND() {
		return 1
	}
	return c.Reverse
}

// HasReverse tells whether the model has a reverse process.
func (c Config) HasReverse() bool { return strings.HasSuffix(c.Model, "+rep") }

// Resolved fills in what depends on the model: the head's layers, no reverse layers in plain models.
func (c Config) Resolved() Config {
	if c.isGRAND() {
		c.Forward, c.Reverse = 0, 0
		if c.HeadLayers == 0 {
			c.HeadLayers = 2
		}
	}
	if !c.HasReverse() {
		c.Reverse = 0
	}
	if c.HeadLayers == 0 {
		c.HeadLayers = 2
		if c.HasReverse() {
			c.HeadLayers = 1
		}
	}
	return c
}

// Validate returns an error that names the first impossible setting and what to choose instead.
func (c Config) Validate() error {
	if !slices.Contains(Names(), c.Model) {
		return fmt.Errorf("unknown model %q: choose one of %s", c.Model, strings.Join(Names(), ", "))
	}
	for _, n := range []struct {
		name       string
		value      int
		least, top int
	}{
		{"forward", c.Forward, 0, 1 << 20}, {"reverse", c.Reverse, 0, 1 << 20}, {"hidden", c.Hidden, 1, 1 << 14},
		{"max-iterations", c.MaxIterations, 1, 1 << 16}, {"head-layers", c.HeadLayers, 0, 16}, {"heads", c.Heads, 1, 64},
	} {
		if n.value < n.least || n.value > n.top {
			return fmt.Errorf("%s is %d: choose a whole number from %d to %d", n.name, n.value, n.least, n.top)
		}
	}
	for _, n := range []struct {
		name       string
		value      float64
		least, top float64
	}{
		{"dropout", c.Dropout, 0, 0.99}, {"lipschitz", c.Lipschitz, 1e-6, 0.9999999}, {"tolerance", c.Tolerance, 0, 1},
	} {
		if math.IsNaN(n.value) || n.value < n.least || n.value > n.top {
			return fmt.Errorf("%s is %g: choose a number from %g to %g", n.name, n.value, n.least, n.top)
		}
	}
	for _, n := range []struct {
		name, value string
		of          []string
	}{
		{"normalise", c.Normalise, []string{"project", "reparametrise"}},
		{"adjoint", c.Adjoint, []string{"implicit", "unrolled"}},
		{"norm", c.Norm, []string{"none", "layer", "batch"}},
	} {
		if !slices.Contains(n.of, n.value) {
			return fmt.Errorf("%s is %q: choose %s", n.name, n.value, strings.Join(n.of, " or "))
		}
	}
	if c.isGRAND() {
		return c.validateGRAND()
	}
	return nil
}
