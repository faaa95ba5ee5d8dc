package roofline

import (
	"context"
	"fmt"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/layers"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
	"github.com/revgnn/revgnn/pkg/train"
)

// Analysis compares the time of an epoch of training with the least time that the machine needs for it.
type Analysis struct {
	Graph  string `json:"dataset"`
	Model  string `json:"model"`
	Engine string `json:"engine"`
	Shape
	// Stored is the number of terms that are added up to compute one column of Â X. If rows of Â are padded with zeros,
	// Stored is larger than the number of entries of Â. See [sparse.Matrix.Places].
	Stored  int      `json:"stored_entries"`
	Rates   Rates    `json:"rates"`
	Kernels []Kernel `json:"kernels"`
	// EpochSeconds is the measured time of an epoch. Accounted is the sum of Kernel.Times * Kernel.Seconds over all
	// kernels: an epoch would take this time if each kernel took as long as it takes alone. Least is the sum of
	// Kernel.Times * Kernel.Least over all kernels. Fraction is Least / EpochSeconds.
	EpochSeconds float64 `json:"epoch_seconds"`
	Accounted    float64 `json:"accounted_seconds"`
	Least        float64 `json:"least_seconds"`
	Fraction     float64 `json:"fraction"`
}

// Analyse measures the time of training steps of a GCN or GCN+ReP. It also measures the time of each kernel alone.
// Training starts from the given weights, or from random weights if weights is nil.
func Analyse(ctx context.Context, e *engine.Engine, g *graphs.Graph, c train.Config,
	weights map[string]train.Array) (*Analysis, error) {
	if _, ok := models.LayerOf(c.Config).(layers.GCN); !ok {
		return nil, fmt.Errorf("the roofline counts the kernels of graph convolutions, not of %s: "+
			"choose a model made of these", c.Model)
	}
	m, err := sparse.SymNorm(g)
	if err != nil {
		return nil, err
	}
	b, err := train.Bench(ctx, e, g, c, weights)
	if err != nil {
		return nil, err
	}
	a := &Analysis{Graph: g.Name, Model: c.Model, Engine: e.Name, EpochSeconds: b.EpochSeconds, Stored: m.Places(),
		Shape: Shape{Nodes: g.NumNodes, Entries: m.Entries(), Features: g.NumFeatures, Outputs: g.NumClasses,
			Hidden: c.Hidden, Forward: c.Forward, Reverse: b.Config.Reverse, Solve: b.Iterations.Solve,
			Adjoint: b.Iterations.Adjoint}}
	if a.Outputs == 2 {
		a.Outputs = 1
	}
	a.Kept = solve.Keeps(a.Nodes, a.Hidden, a.Reverse)
	var features *sparse.Matrix
	if entries, yes := models.Sparse(g); yes {
		a.FeatureEntries = entries
		x, err := sparse.FromDense(g.Features, g.NumFeatures)
		if err != nil {
			return nil, err
		}
		if features, err = sparse.NewRectangular(x, nil, nil); err != nil {
			return nil, err
		}
	}
	if a.Rates, err = MeasureRates(e, a.Nodes, a.Hidden); err != nil {
		return nil, err
	}
	return a, a.measure(ctx, e, kernels(a.Shape, m, features))
}

// measure measures the time of each kernel alone. Then it computes the sums Accounted and Least, and Fraction.
func (a *Analysis) measure(ctx context.Context, e *engine.Engine, list []Kernel) (err error) {
	for _, k := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		if k.Seconds, err = perRepetition(e, k.work); err != nil {
			return fmt.Errorf("kernel %s: %w", k.Name, err)
		}
		k.bound(a.Rates)
		k.Fraction = k.Least / k.Seconds
		a.Accounted += k.Times * k.Seconds
		a.Least += k.Times * k.Least
		a.Kernels = append(a.Kernels, k)
	}
	a.Fraction = a.Least / a.EpochSeconds
	return nil
}
