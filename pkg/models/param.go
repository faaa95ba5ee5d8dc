package models

import (
	"math/rand/v2"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/layers"
)

// Param is an array of a model and how it starts: uniform in ±Limit, or where Limit is 0 at Values, or all Value where
// there are none.
type Param struct {
	// Name is that of the PyTorch implementation, where there is one; matrices of linear maps are [out, in].
	Name         string
	Shape        []int
	Limit, Value float64
	Values       []float64
	// Fixed marks an array that is part of the model but not trained, such as running statistics.
	Fixed bool
	// Bound, if not nil, is a bound on its norm.
	Bound *Bound
}

// Bound is a bound on the norm of a weight of K heads, [K d, d], head below head: the mean of the heads' Frobenius
// norms; see [layers.Bound].
type Bound struct {
	Heads int
	// Limit c of the norm.
	Limit float64
	// Project tells that the weight is scaled down to the limit after every step.
	Project bool
	// Start is the largest norm to start with; 0 for any.
	Start float64
}

// Apply scales a weight down to the limit.
func (b *Bound) Apply(w *Node) *Node { return layers.Bound(w, b.Heads, b.Limit) }

// Scale multiplies a weight on the host by a factor that depends on its norm.
func (b *Bound) Scale(values []float32, factor func(norm float64) float64) {
	norm := 0.0
	for head := range slices.Chunk(values, len(values)/max(1, b.Heads)) {
		norm += layers.Frobenius(head) / float64(max(1, b.Heads))
	}
	by := factor(norm)
	for i := range values {
		values[i] = float32(by * float64(values[i]))
	}
}

// size is the number of entries.
func (p Param) size() int {
	size := 1
	for _, d := range p.Shape {
		size *= d
	}
	return size
}

// Draw draws the parameter's start, without regard to its bound.
func (p Param) Draw(rng *rand.Rand) []float32 {
	values := make([]float32, p.size())
	for i := range values {
		values[i] = float32(p.Value)
		if p.Limit > 0 {
			values[i] = float32((2*rng.Float64() - 1) * p.Limit)
		} else if len(p.Values) > 0 {
			values[i] = float32(p.Values[i])
		}
	}
	return values
}

// Start draws the parameter's start, within its bound.
func (p Param) Start(rng *rand.Rand) *tensors.Tensor {
	values := p.Draw(rng)
	if p.Bound != nil && p.Bound.Start > 0 {
		p.Bound.Scale(values, func(norm float64) float64 { return min(1, p.Bound.Start/norm) })
	}
	return tensors.FromFlatDataAndDimensions(values, p.Shape...)
}

// Zeros has the parameter's shape.
func (p Param) Zeros() (*tensors.Tensor, error) {
	return tensors.FromFlatDataAndDimensions(make([]float32, p.size()), p.Shape...), nil
}
