package trained

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/npz"
)

// Of returns the probability that a node belongs to a class. Both count from 0.
func (p *Prediction) Of(node, class int) float64 { return p.Probabilities[node*len(p.Classes)+class] }

// Write writes the prediction to a file, as a whole or not at all: .csv has a row for each node, with its id and the
// probabilities of the classes by name; .npz has the [Prediction.Arrays].
func (p *Prediction) Write(path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return files.Write(path, p.writeCSV)
	case ".npz":
		return npz.Write(path, p.Arrays())
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

// Arrays returns probabilities [nodes, classes], logits of the same shape or, for two classes, [nodes], and
// representation [nodes, width].
func (p *Prediction) Arrays() []npz.Named {
	n := len(p.IDs)
	probabilities := make([]float32, len(p.Probabilities))
	for i, v := range p.Probabilities {
		probabilities[i] = float32(v)
	}
	logits := []int{n, p.Outputs}
	if p.Outputs == 1 {
		logits = logits[:1]
	}
	return []npz.Named{{Name: "probabilities", Shape: []int{n, len(p.Classes)}, Values: probabilities},
		{Name: "logits", Shape: logits, Values: p.Logits},
		{Name: "representation", Shape: []int{n, p.Width}, Values: p.Representation}}
}
