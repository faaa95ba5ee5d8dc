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
	// Heads is the number of matrices below each other that it is made of, [Heads d, d]; 0 for one.
	Heads int
	// Nodes marks an array whose last axis has an entry for every node, in the order of the graph.
	Nodes bool
	// Bound, if not nil, is a bound on its norm, alone or together with the other parameters that have the same one.
	Bound *Bound
}

// Bound is a bound on the sum of the norms of all parameters that share it; see [layers.Bound].
type Bound struct {
	Norm layers.Norm
	// Limit c of the sum.
	Limit float64
	// Project tells that the weights are scaled down to the limit after every step.
	Project bool
	// Start is the largest Frobenius norm, the mean of the heads', that each of them starts with; 0 for any.
	Start float64
}

// Bounded are the parameters that share a bound.
type Bounded struct {
	*Bound
	Params []Param
}

// Groups gathers the parameters that have a bound by the bound that they share.
func Groups(params []Param) (groups []Bounded) {
	for _, p := range params {
		if p.Bound == nil {
			continue
		}
		i := slices.IndexFunc(groups, func(g Bounded) bool { return g.Bound == p.Bound })
		if i < 0 {
			groups, i = append(groups, Bounded{Bound: p.Bound}), len(groups)
		}
		groups[i].Params = append(groups[i].Params, p)
	}
	return groups
}

// Apply scales the parameters' values, in their order, down to the limit.
func (g Bounded) Apply(values []*Node) []*Node {
	return layers.Bound(g.Norm, g.Limit, values, g.heads())
}

// Meet scales the parameters' values, up or down, so that they meet the limit.
func (g Bounded) Meet(values []*Node) []*Node {
	return layers.ToBound(g.Norm, g.Limit, values, g.heads())
}

func (g Bounded) heads() (heads []int) {
	for _, p := range g.Params {
		heads = append(heads, max(1, p.Heads))
	}
	return heads
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
		p.shrink(values, p.Bound.Start)
	}
	return tensors.FromFlatDataAndDimensions(values, p.Shape...)
}

// shrink scales values down to a Frobenius norm, the mean of the heads', if theirs is larger.
func (p Param) shrink(values []float32, to float64) {
	heads, norm := max(1, p.Heads), 0.0
	for head := range slices.Chunk(values, len(values)/heads) {
		norm += layers.Frobenius(head) / float64(heads)
	}
	by := min(1, to/norm)
	for i := range values {
		values[i] = float32(by * float64(values[i]))
	}
}

// Zeros has the parameter's shape.
func (p Param) Zeros() (*tensors.Tensor, error) {
	return tensors.FromFlatDataAndDimensions(make([]float32, p.size()), p.Shape...), nil
}
