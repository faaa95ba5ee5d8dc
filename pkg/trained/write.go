package trained

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/npz"
	"github.com/revgnn/revgnn/pkg/train"
)

// Of returns the probability that a node belongs to a class. Both count from 0.
func (p *Prediction) Of(node, class int) float64 { return p.Probabilities[node*len(p.Classes)+class] }

// Write writes the prediction to a file, as a whole or not at all: .csv has a row for each node, with its id and the
// probabilities of the classes by name; .npz has the [Prediction.arrays].
func (p *Prediction) Write(path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return files.Write(path, p.writeCSV)
	case ".npz":
		return npz.Write(path, p.arrays())
	}
	return fmt.Errorf("%s ends neither in .csv nor in .npz: name the file by its format", path)
}

// Only returns the part of the prediction that is about the given nodes, which count from 0.
func (p *Prediction) Only(nodes []int) *Prediction {
	q := *p
	q.IDs, q.Probabilities, q.Logits, q.Representation = nil, nil, nil, nil
	for _, i := range nodes {
		q.IDs = append(q.IDs, p.IDs[i])
		q.Probabilities = append(q.Probabilities, rowOf(p.Probabilities, i, len(p.Classes))...)
		q.Logits = append(q.Logits, rowOf(p.Logits, i, p.Outputs)...)
		q.Representation = append(q.Representation, rowOf(p.Representation, i, p.Width)...)
	}
	return &q
}

func rowOf[T any](matrix []T, row, width int) []T { return matrix[row*width : (row+1)*width] }

func (p *Prediction) writeCSV(to io.Writer) error {
	w := csv.NewWriter(to)
	w.Write(append([]string{"id"}, p.Classes...)) // the method Error below returns any error
	row := make([]string, 1+len(p.Classes))
	for i, id := range p.IDs {
		row[0] = id
		for c := range p.Classes {
			row[1+c] = strconv.FormatFloat(p.Of(i, c), 'g', 9, 64)
		}
		w.Write(row)
	}
	w.Flush()
	return w.Error()
}

// arrays returns probabilities [nodes, classes] and the [outputs].
func (p *Prediction) arrays() []npz.Named {
	probabilities := make([]float32, len(p.Probabilities))
	for i, v := range p.Probabilities {
		probabilities[i] = float32(v)
	}
	return append([]npz.Named{{Name: "probabilities", Shape: []int{len(p.IDs), len(p.Classes)}, Values: probabilities}},
		outputs(len(p.IDs), p.Outputs, p.Width, p.Logits, p.Representation)...)
}

// outputs returns logits [n, count] or, for one output, [n], and representation [n, width].
func outputs(n, count, width int, logits, representation []float32) []npz.Named {
	shape := []int{n, count}
	if count == 1 {
		shape = shape[:1]
	}
	return []npz.Named{{Name: "logits", Shape: shape, Values: logits},
		{Name: "representation", Shape: []int{n, width}, Values: representation}}
}

// Compared returns an evaluation of a model on n nodes as arrays: "logits" [n, outputs] or, for one output, [n];
// "representation" [n, width], which the classifier reads; "loss", a single value; and "grad.<name>" for each
// parameter. The map names has the names of parameters in the file of weights; see [Pick].
func Compared(p *train.Prediction, n int, names map[string]string) []npz.Named {
	out := append(outputs(n, p.Outputs, p.Width, p.Logits, p.Representation),
		npz.Named{Name: "loss", Values: []float32{float32(p.Loss)}})
	for _, name := range slices.Sorted(maps.Keys(p.Gradients)) {
		g := p.Gradients[name]
		out = append(out, npz.Named{Name: "grad." + cmp.Or(names[name], name), Shape: g.Shape, Values: g.Values})
	}
	return out
}
