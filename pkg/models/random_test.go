package models_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// drop makes a model of the given kind with dropout 0.25. It builds the function f in training mode, and runs f several
// times. The argument times is the number of runs. drop returns the results of each run. The parameter x.weight is the
// identity matrix, and the parameter x.bias is 0. Therefore b.Encode("x", …) in f returns the node features themselves.
// In some kinds of models, training applies dropout to the node features before Encode reads them.
func drop(t *testing.T, e *engine.Engine, g *graphs.Graph, kind string, times int,
	f func(b *models.Builder) []*Node) [][][]float32 {
	t.Helper()
	c := models.Default(kind)
	c.Dropout = 0.25
	m, err := models.New(c, g, nil)
	if err != nil {
		t.Fatal(err)
	}
	store := model.NewStore()
	defer store.Finalize()
	if err := store.SetRNGStateFromSeed(1); err != nil {
		t.Fatal(err)
	}
	identity := make([]float32, g.NumFeatures*g.NumFeatures)
	for i := range g.NumFeatures {
		identity[i*(g.NumFeatures+1)] = 1
	}
	for name, value := range map[string]*tensors.Tensor{
		"x.weight": tensors.FromFlatDataAndDimensions(identity, g.NumFeatures, g.NumFeatures),
		"x.bias":   tensors.FromFlatDataAndDimensions(make([]float32, g.NumFeatures), g.NumFeatures),
	} {
		if _, err := store.RootScope().CreateVariable(name, value); err != nil {
			t.Fatal(err)
		}
	}
	exec, err := model.NewExec(e.Backend, store, func(scope *model.Scope, in []*Node) []*Node {
		store.SetTraining(in[0].Graph(), true)
		return f(m.Builder(scope, in))
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	var args []any
	for _, a := range m.Arrays {
		args = append(args, a)
	}
	var out [][][]float32
	for range times {
		results, err := exec.Call(args...)
		if err != nil {
			t.Fatal(err)
		}
		var values [][]float32
		for _, r := range results {
			values = append(values, tensors.MustCopyFlatData[float32](r))
		}
		out = append(out, values)
	}
	return out
}

// Dropout with probability 0.25 keeps three quarters of the entries, and divides the kept entries by 0.75. Whether an
// entry is kept is independent of the other entries, of other arrays and of other steps.
func TestDropout(t *testing.T) {
	const rows, columns = 300, 64
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		steps := drop(t, e, modeltest.Tiny(t), "sage", 2, func(b *models.Builder) []*Node {
			x := Ones(b.Graph, shapes.Make(dtypes.Float32, rows, columns))
			return []*Node{b.Dropout(x), b.Dropout(x)}
		})
		var kept [][]float64 // one list for each array: 1 for entries that are kept, else 0
		for _, x := range slices.Concat(steps...) {
			k := make([]float64, len(x))
			for i, v := range x {
				if k[i] = math.Ceil(float64(v)); v != 0 && math.Abs(float64(v)-1/0.75) > 1e-6 {
					t.Fatalf("1 became %g, want 0 or 4/3", v)
				}
				k[i] = min(k[i], 1)
			}
			kept = append(kept, k)
		}
		four := 4 / math.Sqrt(rows*columns) // four standard deviations of the mean of entries with standard deviation 1
		for a, k := range kept {
			for _, shift := range []int{0, 1, 2, 7, columns, 1024} {
				for _, other := range kept[a:] {
					want := 0.75 * 0.75
					if shift == 0 && &other[0] == &k[0] {
						want = 0.75
					}
					both := 0.0
					for i := range k {
						both += k[i] * other[(i+shift)%len(k)] / float64(len(k))
					}
					if math.Abs(both-want) > four*0.5 {
						t.Errorf("%g of the entries of array %d are kept together with those %d on, want %g",
							both, a, shift, want)
					}
				}
			}
		}
	})
}

// In some models, such as mlp, dropout acts on the node features before they are encoded. This is tested for dense and
// for sparse features.
func TestDropFeatures(t *testing.T) {
	const n, m = 400, 64
	for _, each := range []int{3, 40} { // the number of a node's features that are not zero
		rng := rand.New(rand.NewPCG(2, 7))
		x := make([]float32, n*m)
		for i := range n {
			for _, j := range rng.Perm(m)[:each] {
				x[i*m+j] = float32(rng.NormFloat64())
			}
		}
		g, err := graphs.New("random", n, []graphs.Edge{{0, 1}}, x, m, make([]int32, n), 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, yes := models.Sparse(g); yes != (each == 3) {
			t.Fatalf("%d features of %d: sparse is %t", each, m, yes)
		}
		enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
			y := drop(t, e, g, "mlp", 1, func(b *models.Builder) []*Node { return []*Node{b.Encode("x", m)} })[0][0]
			kept := 0.0
			for i, v := range y { // the rows are in the graph's order, since the model mlp does not reorder nodes
				if v == 0 {
					continue
				}
				if want := float64(x[i]) / 0.75; math.Abs(float64(v)-want) > 1e-5 {
					t.Fatalf("feature %d became %g, want %g or 0", i, v, want)
				}
				kept++
			}
			if share := kept / float64(n*each); math.Abs(share-0.75) > 4*0.44/math.Sqrt(float64(n*each)) {
				t.Errorf("%g of the features are kept, want 0.75", share)
			}
		})
	}
}
