package models

import (
	"math/rand/v2"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/layers"
)

// Param declares an array of a model, and the initial values of its entries. If Limit is not 0, the entries are drawn
// uniformly from the interval from -Limit to Limit. Otherwise they are Values or, if Values is empty, all equal to
// Value.
type Param struct {
	// Name is the name of the array in the PyTorch implementation, if there is one. For the matrix of a linear map,
	// Shape is [out, in]: the number of outputs, then the number of inputs. Limit, Value and Values give the initial
	// values: see the comment on Param.
	Name         string
	Shape        []int
	Limit, Value float64
	Values       []float64
	// Fixed marks an array that is part of the model but not trained, such as the running means of batch normalisation.
	Fixed bool
	// Heads is the number K of attention heads if the array holds a matrix [d, d] for each head. These matrices are
	// stacked one below the other, so that the array has the shape [K d, d]. Heads is 0 for an array that is a single
	// matrix.
	Heads int
	// Nodes marks an array whose last axis has an entry for every node, in the order in which the dataset numbers the
	// nodes.
	Nodes bool
	// Bound, if not nil, bounds the norm of the array. A Bound that several parameters share bounds the sum of their
	// norms.
	Bound *Bound
}

// Bound is a bound on the sum of the norms of all parameters that share it; see [layers.Bound].
type Bound struct {
	Norm layers.Norm
	// Limit is the bound c: the largest sum of the norms that is allowed.
	Limit float64
	// Project tells that training scales the weights down to the limit after every step of the optimiser. If Project is
	// false, the model itself has to scale them, by [Bounded.Apply].
	Project bool
	// Start limits the initial value of each parameter: its Frobenius norm is at most Start. For a parameter with
	// several heads, the mean of the norms of the heads is at most Start. If Start is 0, there is no limit.
	Start float64
}

// Bounded is a bound together with the parameters that share it.
type Bounded struct {
	*Bound
	Params []Param
}

// Groups gathers the parameters with bounds, one group for each bound.
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

// Apply scales the parameters' values down, all by the same factor, if the sum of their norms exceeds the limit.
func (g Bounded) Apply(values []*Node) []*Node {
	return layers.Bound(g.Norm, g.Limit, values, g.heads())
}

// Meet scales the parameters' values up or down, all by the same factor, so that the sum of their norms equals the
// limit.
func (g Bounded) Meet(values []*Node) []*Node {
	return layers.ToBound(g.Norm, g.Limit, values, g.heads())
}

// heads lists the number of heads of each parameter. This number is 1 for a parameter that is a single matrix.
func (g Bounded) heads() (heads []int) {
	for _, p := range g.Params {
		heads = append(heads, max(1, p.Heads))
	}
	return heads
}

// size is the number of entries of the parameter.
func (p Param) size() int {
	size := 1
	for _, d := range p.Shape {
		size *= d
	}
	return size
}

// Draw draws the parameter's initial value. If the norm of this value exceeds Bound.Start, [Param.Start] scales the
// value down. Draw does not scale it.
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

// Start draws the parameter's initial value. If the norm of this value exceeds Bound.Start, Start scales the value
// down.
func (p Param) Start(rng *rand.Rand) *tensors.Tensor {
	values := p.Draw(rng)
	if p.Bound != nil && p.Bound.Start > 0 {
		p.shrink(values, p.Bound.Start)
	}
	return tensors.FromFlatDataAndDimensions(values, p.Shape...)
}

// shrink scales values down to the given Frobenius norm, if their norm is larger. If the parameter has several heads,
// the mean of the norms of the heads takes the place of the norm.
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

// Zeros is an array of zeros with the parameter's shape.
func (p Param) Zeros() (*tensors.Tensor, error) {
	return tensors.FromFlatDataAndDimensions(make([]float32, p.size()), p.Shape...), nil
}
