package models

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/solve"
)

// Layers applies count layers to x, one after the other, and compiles one: layer(b, l, x) computes layer l for the input
// x. Its result has the shape of x. Layers differ only in the names and values of their parameters and in random draws,
// so that layer may use l only where it declares parameters.
//
// layer must use the builder that is its argument. It may use x and what this builder offers: parameters, linear layers,
// layer normalisation, dropout, and arrays. It must not use other nodes, nor gather statistics, as batch normalisation
// does.
func (b *Builder) Layers(count int, x *Node, layer func(b *Builder, l int, x *Node) *Node) *Node {
	if count == 1 {
		return layer(b, 0, x)
	}
	var stacks [][]*Node // for each parameter, its values in all layers
	draws := 0
	for l := range count {
		d := b.declaration(l, x, layer)
		if l == 0 {
			stacks, draws = make([][]*Node, len(d.params)), d.draws
		}
		alike := len(d.params) == len(stacks) && d.draws == draws
		for i, p := range d.params {
			if alike = alike && (l == 0 || slices.Equal(stacks[i][0].Shape().Dimensions[1:], p.Shape)); alike {
				stacks[i] = append(stacks[i], InsertAxes(b.Param(p), 0))
			}
		}
		if !alike {
			panic(fmt.Errorf("model %s: layer %d has parameters of other shapes than layer 0, or draws more or less: "+
				"Builder.Layers needs layers that are alike", b.Config.Model, l))
		}
	}
	own := layerOwn{}
	for _, values := range stacks {
		own.Values = append(own.Values, Concatenate(values, 0))
	}
	if draws > 0 {
		own.Seeds = b.seeds(count, draws)
	}
	return solve.Scan(func(_, x *Node, own layerOwn, shared layerShared) *Node {
		in := &layerOf{random: draws > 0, values: own.Values, seeds: own.Seeds}
		return layer(b.within(in, x, shared.Arrays.nodes), 0, x)
	}, x, own, layerShared{constants{b.arrays}}, count)
}

// layerOwn are stacks of what layers have of their own: parameters, and seeds of random draws.
type layerOwn struct {
	Values []*Node
	Seeds  *Node
}

type layerShared struct{ Arrays constants }

// constants are nodes without gradients.
type constants struct{ nodes []*Node }

func (constants) Fixed() {}

// layerOf is the state of a builder of a single layer for [Builder.Layers], in a computation graph of its own.
type layerOf struct {
	random bool
	// values are the layer's parameters, in the order in which it declares them, and seeds, [draws, 2], are those of its
	// random draws. Both are nil while [Builder.declaration] lists params and counts draws.
	values []*Node
	params []Param
	seeds  *Node
	asked  int
	draws  int
}

// within is a builder for one layer, in the computation graph of x.
func (b *Builder) within(in *layerOf, x *Node, arrays []*Node) *Builder {
	return &Builder{Model: b.Model, Graph: x.Graph(), arrays: arrays, layer: in}
}

// declaration lists the parameters and counts the draws of layer l, in a graph that is thrown away.
func (b *Builder) declaration(l int, x *Node, layer func(b *Builder, l int, x *Node) *Node) *layerOf {
	g := NewGraph(b.Graph.Backend(), "a layer of "+b.Config.Model)
	defer g.Finalize()
	arrays := make([]*Node, len(b.arrays))
	for i, a := range b.arrays {
		arrays[i] = Parameter(g, fmt.Sprintf("array%d", i), a.Shape())
	}
	x = Parameter(g, "x", x.Shape())
	in := &layerOf{random: b.Random()}
	layer(b.within(in, x, arrays), l, x)
	return in
}

// param is the next value, in the order in which the layer asks; while parameters are listed, a placeholder.
func (in *layerOf) param(g *Graph, p Param) *Node {
	if p.Fixed {
		panic(fmt.Errorf("parameter %s is not trained, but gathered: Builder.Layers cannot do that, "+
			"loop over the layers instead", p.Name))
	}
	if in.values == nil {
		in.params = append(in.params, p)
		return Parameter(g, p.Name, shapes.Make(dtypes.Float32, p.Shape...))
	}
	in.asked++
	return in.values[in.asked-1]
}

// seed is the seed of the next draw, or a placeholder while draws are counted.
func (in *layerOf) seed(g *Graph) *Node {
	in.draws++
	if in.seeds == nil {
		return Zeros(g, shapes.Make(dtypes.Uint32, 2))
	}
	return Reshape(Slice(in.seeds, AxisElem(in.draws-1)), 2)
}
