package models

import (
	"math"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
)

// Dropout keeps about a share 1 - p of the entries, where p is the probability to drop an entry. The choices for two
// entries look independent: dropout keeps both entries in about a share (1 - p)² of all pairs. The test counts three
// kinds of pairs: neighbouring entries, entries that are a row of 64 entries apart, and the same entry with two
// different seeds. Each count may differ from its expected value by up to five standard deviations.
func TestKept(t *testing.T) {
	const n, width = 1 << 16, 64
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for _, p := range []float64{0.2, 0.5, 0.9} {
			ex, err := NewExec(e.Backend, func(seed *Node) *Node {
				return ConvertDType(kept(Iota(seed.Graph(), shapes.Make(dtypes.Uint32, n), 0), seed, p), dtypes.Int32)
			})
			if err != nil {
				t.Fatal(err)
			}
			defer ex.Finalize()
			draw := func(a, b uint32) []int32 {
				out, err := ex.Call([]uint32{a, b})
				if err != nil {
					t.Fatal(err)
				}
				return tensors.MustCopyFlatData[int32](out[0])
			}
			x := draw(1234567, 7654321)
			check := func(what string, y []int32, by int, share float64) {
				both := 0
				for i := range n - by {
					both += int(x[i] * y[i+by])
				}
				mean := float64(n-by) * share
				if math.Abs(float64(both)-mean) > 5*math.Sqrt(mean*(1-share)) {
					t.Errorf("p = %g, %s: %d, expected about %.0f", p, what, both, mean)
				}
			}
			q := 1 - p
			check("kept", x, 0, q)
			check("neighbours", x, 1, q*q)
			check("a row apart", x, width, q*q)
			check("another first half of the seed", draw(1234568, 7654321), 0, q*q)
			check("another second half of the seed", draw(1234567, 7654322), 0, q*q)
		}
	})
}
