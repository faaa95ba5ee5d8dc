package weights

import (
	"maps"
	"slices"

	"github.com/revgnn/revgnn/pkg/npz"
	"github.com/revgnn/revgnn/pkg/train"
)

// Prediction lists the arrays of an evaluation for an .npz file: logits, [n, outputs], or [n] for one output;
// representation, [n, width]; loss, a single value; and grad.<name> for each gradient. names gives the names of
// parameters in the file of weights, as [For] returns them.
func Prediction(p *train.Prediction, n int, names map[string]string) []npz.Named {
	shape := []int{n, p.Outputs}
	if p.Outputs == 1 {
		shape = shape[:1]
	}
	out := []npz.Named{
		{Name: "logits", Shape: shape, Values: p.Logits},
		{Name: "representation", Shape: []int{n, p.Width}, Values: p.Representation},
		{Name: "loss", Values: []float32{float32(p.Loss)}},
	}
	for _, name := range slices.Sorted(maps.Keys(p.Gradients)) {
		stored := names[name]
		if stored == "" {
			stored = name
		}
		out = append(out,
			npz.Named{Name: "grad." + stored, Shape: p.Gradients[name].Shape, Values: p.Gradients[name].Values})
	}
	return out
}
