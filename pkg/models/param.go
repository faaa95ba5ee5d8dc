package models

import (
	"math/rand/v2"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/layers"
)

// Param declares an array of a model. Its entries start uniform in ±Limit or, if Limit is 0, as Values or, without
// those, as Value.
type Param struct {
	// Name is that of the PyTorch implementation, if there is one. The matrix of a linear map is [out, in].
	Name         string
	Shape        []int
	Limit, Value float64
	Values       []float64
	// Fixed marks what is not trained, such as the running means of batch normalisation.
	Fixed bool
	// Heads is K if the array has a matrix [d, d] for each of K attention heads, one below the other, and else 0.
	Heads int
	// Nodes marks an array whose last axis has an entry for each node, in the dataset's order.
	Nodes bool
	// Bound, if not nil, bounds the norm. Parameters that share a Bound share the bound on the sum of their norms.
	Bound *Bound
}

// Bound is a bound on the sum of the norms of all parameters that share it; see [layers.Bound].
type Bound struct {
	Norm  layers.Norm
	Limit float64
	// Project says that training scales the weights down to the limit after every step of the optimiser. Otherwise the
	// model scales them, by [Bounded.Apply].
	Project bool
	// Start limits the Frobenius norm of each initial value, the mean over heads; 0 is no limit.
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

// Apply scales the values down by one factor, if the sum of their norms exceeds the limit.
func (g Bounded) Apply(values []*Node) []*Node {
	return layers.Bound(g.Norm, g.Limit, values, g.heads())
}

// Meet scales the values by one factor, so that the sum of their norms equals the limit.
func (g Bounded) Meet(values []*Node) []*Node {
	return layers.ToBound(g.Norm, g.Limit, values, g.heads())
}

func (g Bounded) heads() (heads []int) {
	for _, p := range g.Params {
		heads = append(heads, max(1, p.Heads))
	}
	return heads
}

func (p Param) size() int {
	size := 1
	for _, d := range p.Shape {
		size *= d
	}
	return size
}

// Draw is a random initial value, before [Param.Start] bounds its norm.
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

// Start is a random initial value, scaled down if its norm exceeds Bound.Start.
func (p Param) Start(rng *rand.Rand) *tensors.Tensor {
	values := p.Draw(rng)
	if p.Bound != nil && p.Bound.Start > 0 {
		heads, norm := max(1, p.Heads), 0.0
		for head := range slices.Chunk(values, len(values)/heads) {
			norm += layers.Frobenius(head) / float64(heads)
		}
		by := min(1, p.Bound.Start/norm)
		for i := range values {
			values[i] = float32(by * float64(values[i]))
		}
	}
	return tensors.FromFlatDataAndDimensions(values, p.Shape...)
}

// Zeros is an array of zeros with the parameter's shape.
func (p Param) Zeros() (*tensors.Tensor, error) {
	return tensors.FromFlatDataAndDimensions(make([]float32, p.size()), p.Shape...), nil
}
