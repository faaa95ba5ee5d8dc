package weights

import (
	"maps"
	"slices"

	"github.com/revgnn/revgnn/pkg/npz"
	"github.com/revgnn/revgnn/pkg/train"
)

// Prediction returns an evaluation of a model on n nodes as arrays: "logits" [n, outputs] or, for one output, [n];
// "representation" [n, width], which the classifier reads; "loss", a single value; and "grad.<name>" for each
// parameter. The map names has the names of parameters in the file of weights; see [For].
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
