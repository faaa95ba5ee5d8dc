package weights

import (
	"maps"
	"slices"

	"github.com/revgnn/revgnn/pkg/npz"
	"github.com/revgnn/revgnn/pkg/train"
)

// Prediction returns the results of an evaluation on n nodes as arrays for an .npz file:
//
//   - "logits" has the shape [n, outputs], or [n] if there is one output;
//   - "representation" has the shape [n, width];
//   - "loss" is a single value;
//   - "grad.<name>" is the gradient by the parameter that has the name <name> in the file of weights.
//
// The last argument maps the names of the model's parameters to their names in the file of weights. [For] returns such
// a map.
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
