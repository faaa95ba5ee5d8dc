package models

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/sparse"
)

func init() {
	Register(Kind{Name: "fsgnn", Title: "FSGNN",
		Layer:     "softmax(a)_i normalised rows of (P_i W_i + b_i), P_i one of X, A^k X and Ã^k X",
		Reference: "Maurya et al., Journal of Computational Science 2022",
		Shared:    []string{"hidden", "dropout"},
		Own: OwnSettings(fsgnnSettings{Hops: 3}, func(s *fsgnnSettings) []Setting {
			return []Setting{{Name: "hops", Value: &s.Hops, Help: "hops that features are gathered from", Least: 1, Most: 64}}
		}),
		Defaults: func(c *Config) { c.Hidden, c.Dropout = 64, 0.5 },
		Depth:    func(c Config) string { return fmt.Sprint(OwnOf[fsgnnSettings](c).Hops) },
		New:      func(c Config) Network { return &fsgnn{hops: OwnOf[fsgnnSettings](c).Hops} }})
}

// fsgnnSettings are what FSGNN has beside the shared settings: K.
type fsgnnSettings struct{ Hops int }

// fsgnn is FSGNN (Maurya, Liu and Murata, "Simplifying approach to node classification in graph neural networks",
// Journal of Computational Science 2022), with the parameters' names of the authors' code,
// https://github.com/sunilkmaurya/FSGNN:
//
//	P      = X, A X, Ã X, A² X, Ã² X, …, A^K X, Ã^K X       2K+1 times [n, m]
//	H_i    = softmax(a)_i norm(P_i W_i^T + b_i)             [n, d], for each of them
//	logits = dropout(ReLU([H_0, …, H_2K])) W^T + b          of [n, (2K+1) d]
//
// A and Ã, [n, n], are the adjacency without and with self loops, symmetrically normalised; norm divides a row by its
// Euclidean length ("hop-normalisation"); a, [2K+1], begins as ones. Published are K = 3 ("3-hop", the default here
// and in the code), 8, 16 and 32, d = 64, dropout 0.5 to 0.7, and learning rates and weight decays of their own for a,
// W_i and W, where this project has one. The code normalises the sums of the features' rows first, which here is left
// to the dataset.
//
// Features that are kept dense (see [Sparse]) are propagated in main memory, once: beside X, 2K dense arrays [n, m] are
// stored. Of sparse ones, such as Cora's 1433 bag of words, nothing dense in m is stored: as A^k X W = A^k (X W),
// the maps come first, and rows of width d are propagated in every step.
type fsgnn struct {
	hops      int
	adjacency []*sparse.Matrix // A and Ã, for sparse features
}

// Prepare propagates dense features, or lays out what sparse ones are propagated by.
func (f *fsgnn) Prepare(g *graphs.Graph) (order sparse.Order, arrays []*tensors.Tensor, err error) {
	a := sparse.Adjacency(g)
	both := []*sparse.CSR{a.SymmetricNormalised(), a.WithSelfLoops().SymmetricNormalised()}
	if _, yes := Sparse(g); !yes {
		x := [][]float32{g.Features, g.Features}
		for range f.hops {
			for i := range both {
				x[i] = both[i].Product(x[i], g.NumFeatures)
				arrays = append(arrays, tensors.FromFlatDataAndDimensions(x[i], g.NumNodes, g.NumFeatures))
			}
		}
		return sparse.AsGiven(g.NumNodes), arrays, nil
	}
	for i := range both {
		m, err := sparse.NewMatrix(both[i], order)
		if err != nil {
			return nil, nil, err
		}
		order, arrays, f.adjacency = m.Order(), append(arrays, m.Tensors()...), append(f.adjacency, m)
	}
	return order, arrays, nil
}

// Build is the network; its representation is the concatenation that the last linear map reads, before dropout.
func (f *fsgnn) Build(b *Builder) Output {
	hops := f.mapped(b)
	share := Softmax(b.Param(Param{Name: "att", Shape: []int{len(hops)}, Value: 1}), 0)
	for i, h := range hops {
		length := Sqrt(MaxScalar(ReduceAndKeep(Square(h), ReduceSum, 1), 1e-24)) // as torch.nn.functional.normalize
		h = Mul(Div(h, length), Reshape(Slice(share, AxisElem(i)), 1, 1))
		hops[i] = Max(h, ZerosLike(h))
	}
	all := Concatenate(hops, 1)
	return Output{Logits: b.Linear("fc2", b.Dropout(all), b.Outputs), Representation: all}
}

// mapped are P_i W_i^T + b_i.
func (f *fsgnn) mapped(b *Builder) []*Node {
	name := func(i int) string { return fmt.Sprintf("fc1.%d", i) }
	if f.adjacency != nil {
		return f.propagated(b, name)
	}
	out := []*Node{b.Encode(name(0), b.Config.Hidden)}
	for i, x := range b.Arrays {
		out = append(out, b.Linear(name(1+i), x, b.Config.Hidden))
	}
	return out
}

// propagated are the same, of features that are mapped first: by all weights at once, in the order X, A X, …, A^K X,
// Ã X, …, Ã^K X.
func (f *fsgnn) propagated(b *Builder, name func(i int) string) []*Node {
	count, width := 1+2*f.hops, b.Config.Hidden
	weights, biases, out := make([]*Node, count), make([]*Node, count), make([]*Node, count)
	for i := range count {
		place := 0
		if i > 0 {
			place = 1 + (i-1)%2*f.hops + (i-1)/2
		}
		weights[place], biases[i] = b.linear(name(i), b.Features, width)
	}
	columns := func(x *Node, from, to int) *Node { return Slice(x, AxisRange(), AxisRange(from*width, to*width)) }
	all, arrays := b.Encoded(Concatenate(weights, 0)), b.Arrays
	out[0] = columns(all, 0, 1)
	for k, m := range f.adjacency {
		split := len(m.Tensors())
		a := m.On(arrays[:split])
		arrays = arrays[split:]
		rest := columns(all, 1+k*f.hops, 1+(k+1)*f.hops) // what is to be propagated once, twice, …
		for j := range f.hops {
			if j > 0 {
				rest = columns(rest, 1, f.hops-j+1)
			}
			rest = a.Product(rest)
			out[1+2*j+k] = columns(rest, 0, 1)
		}
	}
	for i := range out {
		out[i] = Add(out[i], ExpandLeftToRank(biases[i], 2))
	}
	return out
}
