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

// Of returns the probability that a node belongs to a class. The arguments are the number of the node and the number of
// the class, both counted from 0.
func (p *Prediction) Of(node, class int) float64 { return p.Probabilities[node*len(p.Classes)+class] }

// Write writes the prediction to a file, as a whole or not at all. The end of the file's name chooses the format:
//
//   - .csv: a row for each node. The column id has the names of the nodes. Each further column has the name of a class,
//     and the probabilities of this class.
//   - .npz: three arrays. The array probabilities has the shape [nodes, classes]. The array logits has the same
//     shape or, if there are two classes, the shape [nodes]. The array representation has the shape [nodes, width]. The
//     nodes have the same order as in the graph.
func (p *Prediction) Write(path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return files.Write(path, p.writeCSV)
	case ".npz":
		return npz.Write(path, p.Arrays())
	}
	return fmt.Errorf("%s ends neither in .csv nor in .npz: name the file by its format", path)
}

// Only returns the part of the prediction that is about the given nodes. The argument nodes lists the numbers of these
// nodes, counted from 0.
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

// rowOf returns a row of a row-major matrix.
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

// Arrays returns the arrays that [Prediction.Write] writes into an .npz file.
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
