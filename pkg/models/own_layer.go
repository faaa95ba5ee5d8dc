package models

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// RegisterLayer registers two models of a layer X + h(X; w) of one's own: name, and name+rep with its inverses. They
// have the encoder, the head, the settings and all else that "gcn" and "gcn+rep" have. RegisterLayer returns name.
// formula is the layer in one line.
//
// W is a struct, whose fields say what h gets:
//
//   - *Node is a trained matrix [d, d] or, where the name begins with B, a trained vector [d];
//   - sparse.Operator is Â, the symmetrically normalised adjacency with self loops, whose spectral norm is 1;
//   - sparse.Edges are the edges, with self loops, for attention.
//
// In the model with inverses, the sum of the matrices' norms is at most the setting "lipschitz". The layer has an
// inverse if this makes Lip(h) < 1, as in σ(Â X W + X V + b) with σ' between 0 and 1.
func RegisterLayer[W any](name, formula string, h func(x *Node, w W) *Node) string {
	t := reflect.TypeFor[W]()
	matrices, weighted := 0, true // attention over edges has no place for their weights
	for i := range t.NumField() {
		f := t.Field(i)
		switch f.Type {
		case reflect.TypeFor[*Node]():
			if !isVector(f) {
				matrices++
			}
		case reflect.TypeFor[sparse.Operator]():
		case reflect.TypeFor[sparse.Edges]():
			weighted = false
		default:
			panic(fmt.Errorf("layer %q: field %s is a %s: use *Node, sparse.Operator and sparse.Edges", name, f.Name, f.Type))
		}
		if !f.IsExported() {
			panic(fmt.Errorf("layer %q: field %s must begin with a capital letter", name, f.Name))
		}
	}
	if matrices == 0 {
		panic(fmt.Errorf("layer %q: %s has no *Node that is a matrix to be trained (those whose names begin with B are vectors)",
			name, t))
	}
	registerPair(Kind{Name: name, Title: name, Layer: formula, Reference: "a layer of one's own", Weighted: weighted,
		New: residualOf(func(c Config, adjacency *sparse.CSR, a *Arrays) func(*Builder, *Node) chained {
			return ownLayer(h, c, adjacency, a)
		})}, nil, nil, func(*Kind) {})
	return name
}

func isVector(f reflect.StructField) bool { return strings.HasPrefix(f.Name, "B") }

// ownLayer is the [block] of [RegisterLayer].
func ownLayer[W any](h func(x *Node, w W) *Node, c Config, adjacency *sparse.CSR,
	a *Arrays) func(*Builder, *Node) chained {
	var pattern *sparse.Pattern
	matrix, t := a.Matrix(adjacency.SymmetricNormalised()), reflect.TypeFor[W]()
	if slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool {
		return f.Type == reflect.TypeFor[sparse.Edges]()
	}) {
		pattern = a.Pattern(adjacency, sparse.PatternOptions{})
	}
	return func(b *Builder, start *Node) chained {
		var w W
		value := reflect.ValueOf(&w).Elem()
		var params []Param
		var at []int // the fields of params
		for i := range t.NumField() {
			switch f := t.Field(i); {
			case f.Type == reflect.TypeFor[sparse.Operator]():
				value.Field(i).Set(reflect.ValueOf(b.Matrix(matrix)))
			case f.Type == reflect.TypeFor[sparse.Edges]():
				value.Field(i).Set(reflect.ValueOf(b.Edges(pattern)))
			case isVector(f):
				bias := b.Param(Param{Name: "stack.0.body." + f.Name, Shape: []int{c.Hidden}})
				value.Field(i).Set(reflect.ValueOf(b.blockScaled(bias)))
			default:
				params, at = append(params, Param{Name: "stack.0.body." + f.Name + ".weight",
					Shape: []int{c.Hidden, c.Hidden}, Limit: c.glorot()}), append(at, i)
			}
		}
		for k, matrix := range b.weights(params...) {
			value.Field(at[k]).Set(reflect.ValueOf(b.blockScaled(Transpose(matrix, 0, 1))))
		}
		return dressed(b, start, solve.FromFunction(h), w)
	}
}
