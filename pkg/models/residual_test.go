package models_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/layers"
)

// TestLayerInit checks the Frobenius norm of the initial weight of GCN+ReP, a matrix of width d = 64. With Glorot's
// initial values, the norm is near sqrt(d) = 8. If training keeps the bound, the initial values are scaled down to c.
// By default, they are scaled down to sqrt(d)/64 = 0.125 at most.
func TestLayerInit(t *testing.T) {
	for _, c := range []struct {
		settings  []string
		want, off float64
	}{
		{nil, 0.125, 1e-6},
		{[]string{"lipschitz", "0.1"}, 0.1, 1e-6},
		{[]string{"normalise", "reparametrise"}, 0.125, 1e-6},
		{[]string{"layer-init", "glorot"}, 0.999, 1e-6},
		{[]string{"layer-init", "glorot", "normalise", "reparametrise"}, 8, 0.3},
	} {
		for _, p := range parameters(t, "gcn+rep", with(t, append(c.settings, "hidden", "64")...)) {
			if !strings.HasPrefix(p.Name, "stack.0.body.lin.weight") {
				continue
			}
			values := tensors.MustCopyFlatData[float32](p.Start(rand.New(rand.NewPCG(1, 2))))
			if norm := layers.Frobenius(values); math.Abs(norm-c.want) > c.off {
				t.Errorf("%v: the norm is %g, want %g", c.settings, norm, c.want)
			}
		}
	}
}
