package train_test

import (
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/sparse"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// attending is a layer of one's own, with every kind of field: tanh(A(X) X W + Â X V + b).
type attending struct {
	W, V, B *Node
	A       sparse.Operator
	Edges   sparse.Edges
}

// A layer of one's own is checked like the models of revgnn: alone, and with its inverses.
func TestRegisterLayer(t *testing.T) {
	models.RegisterLayer("attending", "X + tanh(A(X) X W + Â X V + b)", func(x *Node, w attending) *Node {
		y := Dot(x, w.W).Product()
		scores := ReduceAndKeep(Mul(w.Edges.Sources(y), w.Edges.Targets(y)), ReduceSum, 1)
		u := Add(w.Edges.Attend(scores, y), Dot(w.A.Product(x), w.V).Product())
		return Tanh(Add(u, ExpandLeftToRank(w.B, 2)))
	})
	modeltest.Check(t, "attending")
	modeltest.Check(t, "attending+rep")
}

func TestRegisterLayerRefuses(t *testing.T) {
	refused := func(want string, register func()) {
		t.Helper()
		defer func() {
			if err, _ := recover().(error); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}()
		register()
	}
	refused("use *Node, sparse.Operator", func() {
		models.RegisterLayer("wrong", "", func(x *Node, _ struct{ N int }) *Node { return x })
	})
	refused("no *Node that is a matrix", func() {
		models.RegisterLayer("wrong", "", func(x *Node, _ struct{ B *Node }) *Node { return x })
	})
	refused("capital letter", func() {
		models.RegisterLayer("wrong", "", func(x *Node, _ struct{ w *Node }) *Node { return x })
	})
}
