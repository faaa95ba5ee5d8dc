package models

import (
	"fmt"
	"math"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/support/exceptions"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
)

// trained makes a builder in training mode. All entries of a parameter p start with the value p.Value (see [Param]).
func trained(store *model.Store, g *Graph) *Builder {
	store.SetTraining(g, true)
	return &Builder{Model: &Model{}, Scope: store.RootScope(), Graph: g, start: func(p Param) (*tensors.Tensor, error) {
		values := make([]float32, p.size())
		for i := range values {
			values[i] = float32(p.Value)
		}
		return tensors.FromFlatDataAndDimensions(values, p.Shape...), nil
	}}
}

// In [Builder.Layers], every layer has parameters with names of its own, and drops entries independently of the other
// layers. With dropout 0.5, about an eighth of the entries is left after three layers.
func TestLayers(t *testing.T) {
	const n, width = 1 << 10, 64
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		store := model.NewStore()
		defer store.Finalize()
		if err := store.SetRNGStateFromSeed(1); err != nil {
			t.Fatal(err)
		}
		out, err := model.CallOnce(e.Backend, store, func(scope *model.Scope, x *Node) *Node {
			b := trained(scope.Store(), x.Graph())
			return b.Layers(3, x, func(b *Builder, l int, x *Node) *Node {
				scale := b.Param(Param{Name: fmt.Sprintf("layers.%d.scale", l), Shape: []int{width},
					Value: float64(l + 2)})
				return b.DropoutOf(Mul(x, ExpandLeftToRank(scale, 2)), 0.5)
			})
		}, tensors.FromScalarAndDimensions(float32(1), n, width))
		if err != nil {
			t.Fatal(err)
		}
		left := 0
		for i, v := range tensors.MustCopyFlatData[float32](out) {
			if v != 0 {
				left++
				if want := float32(8 * 2 * 3 * 4); v != want {
					t.Fatalf("entry %d is %g, want %g", i, v, want)
				}
			}
		}
		mean := float64(n * width / 8)
		if math.Abs(float64(left)-mean) > 5*math.Sqrt(mean*7/8) {
			t.Errorf("%d entries are left, expected about %.0f", left, mean)
		}
	})
}

// [Builder.Layers] refuses layers whose parameters differ in number or shape, and layers that gather statistics, as
// batch normalisation does. The error says which of these rules is broken.
func TestLayersRefuse(t *testing.T) {
	e := enginetest.Open(t, engine.Go)
	for want, layer := range map[string]func(b *Builder, l int, x *Node) *Node{
		"layer 1 has parameters of other shapes": func(b *Builder, l int, x *Node) *Node {
			for i := range l {
				b.Param(Param{Name: fmt.Sprint("layer", l, i), Shape: []int{2}})
			}
			return x
		},
		"layers that are alike": func(b *Builder, l int, x *Node) *Node {
			b.Param(Param{Name: fmt.Sprint("layer", l), Shape: []int{2 + l}})
			return x
		},
		"loop over the layers": func(b *Builder, _ int, x *Node) *Node { return b.BatchNorm("norm", x) },
	} {
		store := model.NewStore()
		g := NewGraph(e.Backend, "refused")
		model.SetStore(g, store)
		err := exceptions.TryCatch[error](func() {
			trained(store, g).Layers(3, Zeros(g, Const(g, [][]float32{{1, 2}}).Shape()), layer)
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
		store.Finalize()
	}
}
