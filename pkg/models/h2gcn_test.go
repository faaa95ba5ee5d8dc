package models_test

import (
	"fmt"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/train/modeltest"
)

// The model h2gcn gives the same results as the formula of its publication, for 0, 1 and 2 rounds of message passing.
func TestH2GCNEqualsFormula(t *testing.T) {
	for _, rounds := range []int{0, 1, 2} {
		modeltest.Equals(t, "h2gcn", func(d *modeltest.Dense) (logits, penalty *Node) {
			// The matrix two joins nodes that are exactly two steps apart. It is made from the product A A, whose entry
			// i, j is positive if a walk of two steps leads from j to i. The entries for neighbours, and for a node
			// with itself, are set to 0.
			is := func(x *Node) *Node { return MinScalar(x, 1) }
			two := is(Dot(d.A, d.A).Product())
			two = Mul(Mul(two, Sub(OnesLike(two), d.A)), Sub(OnesLike(two), d.I))
			r := Dot(d.X, d.Param("w_embed")).Product()
			r = Max(r, ZerosLike(r))
			w, from := d.Param("w_classify"), 0
			for k := 0; ; k++ {
				width := r.Shape().Dimensions[1]
				part := Dot(r, Slice(w, AxisRange(from, from+width))).Product()
				if from += width; logits == nil {
					logits = part
				} else {
					logits = Add(logits, part)
				}
				if k == rounds {
					return logits, nil
				}
				r = Concatenate([]*Node{Dot(d.SymNorm(d.A), r).Product(), Dot(d.SymNorm(two), r).Product()}, 1)
			}
		}, func(c *train.Config) {
			if err := c.Set("rounds", fmt.Sprint(rounds)); err != nil {
				t.Fatal(err)
			}
		})
	}
}
