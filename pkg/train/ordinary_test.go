package train

import (
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	gomlx "github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/layers/norm"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// ordinary is a model as a user may write it: with GoMLX's own layers, normalisation, dropout and skip connections.
// Each layer has weights of its own, and the model has a setting that no other model has.
type ordinary struct{ matrix *sparse.Matrix }

type ordinarySettings struct {
	Slope float64 `help:"slope below 0" most:"1"`
}

func init() {
	models.Register(models.Kind{Name: "test-ordinary", Title: "Ordinary",
		Shared: []string{"forward", "hidden", "dropout"},
		Own:    ordinarySettings{Slope: 0.1},
		New:    func(models.Config) models.Network { return &ordinary{} }})
}

func (o *ordinary) Prepare(g *graphs.Graph, a *models.Arrays) {
	o.matrix = a.Matrix(sparse.Adjacency(g).WithSelfLoops().SymmetricNormalised())
}

func (o *ordinary) Build(b *models.Builder) models.Output {
	a := b.Matrix(o.matrix)
	slope := models.OwnOf[ordinarySettings](b.Config).Slope
	x := b.Encode("input", b.Config.Hidden)
	for l := range b.Config.Forward {
		scope := b.Scope.In("layer_%d", l)
		h := norm.LayerNorm(scope.In("norm"), x, -1).Done()
		h = activation.LeakyRelu(gomlx.Dense(scope.In("dense"), a.Product(h), true, b.Config.Hidden))
		x = Add(x, gomlx.DropoutStatic(scope, MulScalar(h, 1+slope), b.Config.Dropout))
	}
	x = b.BatchNorm("last", x) // GoMLX's own BatchNorm does not run on the pure-Go engine.
	return models.Output{Logits: gomlx.Dense(b.Scope.In("output"), x, true, b.Outputs), Representation: x}
}

// TestOrdinaryModel trains the model [ordinary]. The result must have all variables of the model, including running
// means and variances, and a second training must give the same result.
func TestOrdinaryModel(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		g := board(t, 12)
		c := Default("test-ordinary")
		c.Hidden, c.Forward, c.Dropout, c.Epochs, c.LearningRate = 8, 3, 0.1, 20, 0.02
		r := fitted(t, e, g, c)
		first, last := float64(r.History[0].Loss), float64(r.History[len(r.History)-1].Loss)
		if r.Status != OK || !(last < 0.95*first) {
			t.Fatalf("status %s, loss %g to %g: %s", r.Status, first, last, r.Message)
		}
		var names []string
		for name := range r.Weights {
			names = append(names, name)
		}
		// The encoder has 2 variables, a weight and a bias. Each of the 3 layers has 2 variables in its linear map and
		// 2 in its layer normalisation. Batch normalisation has 4 variables, and the output layer has 2.
		if len(names) != 2+3*4+4+2 ||
			!slices.ContainsFunc(r.Weights["last.running_mean"].Values, func(v float32) bool { return v != 0 }) {
			t.Errorf("the weights are %v", names)
		}
		again := fitted(t, e, g, c)
		if math.Abs(float64(again.Val-r.Val)) > 1e-9 {
			t.Errorf("the same seed gave %v and %v", r.Val, again.Val)
		}
	})
}
