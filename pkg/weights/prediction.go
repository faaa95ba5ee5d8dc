package weights

import (
	"maps"
	"slices"

	"github.com/revgnn/revgnn/pkg/npz"
	"github.com/revgnn/revgnn/pkg/train"
)

// Prediction returns the results of an evaluation of a model on n nodes, as arrays for an .npz file:
//
//   - "logits" has the shape [n, outputs], or [n] if the model has one output for each node;
//   - "representation" has the shape [n, width]; it has the features that the model's classifier reads;
//   - "loss" is a single value;
//   - "grad.<name>" is the gradient of the loss with respect to one parameter; <name> is the parameter's name in the
//     file of weights.
//
// The argument names maps the names of the model's parameters to their names in the file of weights. [For] returns such
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
