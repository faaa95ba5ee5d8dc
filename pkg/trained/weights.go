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
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/npz"
	"github.com/revgnn/revgnn/pkg/safetensors"
	"github.com/revgnn/revgnn/pkg/train"
)

// maxValues limits what a small compressed file can unpack into memory.
const maxValues = 1 << 28

// prefix marks the names of parameters in files that also hold other arrays.
const prefix = "param."

// scaled ends PyTorch's name of a weight that is scaled inside the model.
const scaled = "_orig"

// others begin the names of arrays that are outputs or gradients, not parameters.
var others = []string{"out.logits", "out.representation", "out.loss", "grad."}

// counter ends the names of arrays in which PyTorch's batch normalisation counts batches.
const counter = ".num_batches_tracked"

// ReadWeights reads the parameters in an .npz or .safetensors file, which have the names of the PyTorch implementation
// of the paper's authors: the arrays "param.<name>" if there are any, or else all except outputs and gradients.
// PyTorch's counters of batches are left out.
func ReadWeights(path string) (map[string]train.Array, error) {
	f, err := ReadFile(path)
	return f.Parameters, err
}

// File is the content of a file of weights.
type File struct {
	Parameters map[string]train.Array
	path       string
	// metadata is that of a .safetensors file. sealed says that its checksum is one that revgnn wrote, and right.
	metadata map[string]string
	sealed   bool
}

// ReadFile is [ReadWeights] with all that a [Model] needs, as far as the file has it.
func ReadFile(path string) (File, error) {
	f := File{Parameters: map[string]train.Array{}, path: path}
	var (
		names []string
		array func(string) ([]float32, []int, error)
	)
	switch strings.ToLower(filepath.Ext(path)) {
	case ".npz":
		z, err := npz.Open(path)
		if err != nil {
			return f, fmt.Errorf("weights: %w", err)
		}
		defer z.Close()
		names, array = z.Names(), func(name string) ([]float32, []int, error) { return z.Float32s(name, npz.Any) }
	case ".safetensors":
		s, err := safetensors.Open(path)
		if err != nil {
			return f, fmt.Errorf("weights: %w", err)
		}
		defer s.Close()
		names, array, f.metadata, f.sealed = s.Names(), s.Float32s, s.Metadata, s.Sealed
	default:
		return f, unknownFormat(path)
	}
	total := 0
	for _, stored := range parameters(names) {
		values, shape, err := array(stored)
		if err != nil {
			return f, fmt.Errorf("weights: %w", err)
		}
		if total += len(values); total > maxValues {
			return f, fmt.Errorf("weights: %s holds more than %d values, the limit", path, maxValues)
		}
		f.Parameters[strings.TrimPrefix(stored, prefix)] = train.Array{Shape: shape, Values: values}
	}
	if len(f.Parameters) == 0 {
		return f, fmt.Errorf("weights: %s holds no parameters; name them as in PyTorch, with or without %q before",
			path, prefix)
	}
	return f, nil
}

func unknownFormat(path string) error {
	return fmt.Errorf("weights: %s ends neither in .npz nor in .safetensors; name the file by its format", path)
}

func parameters(names []string) []string {
	marked := slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, prefix) })
	return slices.DeleteFunc(names, func(name string) bool {
		if strings.HasSuffix(name, counter) {
			return true
		}
		if marked {
			return !strings.HasPrefix(name, prefix)
		}
		return slices.ContainsFunc(others, func(o string) bool { return strings.HasPrefix(name, o) })
	})
}

// WriteWeights writes parameters to an .npz or .safetensors file, as a whole or not at all. Equal parameters give equal
// files, byte for byte.
func WriteWeights(path string, parameters map[string]train.Array) error {
	return writeFile(path, parameters, nil)
}

// writeFile is [WriteWeights] with metadata, which only a .safetensors file can have.
func writeFile(path string, parameters map[string]train.Array, metadata map[string]string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".npz":
		if len(metadata) > 0 {
			return fmt.Errorf("weights: %s cannot say what model it is of: give it a name that ends in .safetensors",
				path)
		}
		var arrays []npz.Named
		for _, name := range slices.Sorted(maps.Keys(parameters)) {
			a := parameters[name]
			arrays = append(arrays, npz.Named{Name: prefix + name, Shape: a.Shape, Values: a.Values})
		}
		return npz.Write(path, arrays)
	case ".safetensors":
		return safetensors.Write(path, parameters, metadata)
	}
	return unknownFormat(path)
}

// Pick picks the arrays that a model needs out of those that [ReadWeights] returns, under the names of its parameters;
// names maps these to the names in the file. They may differ: PyTorch adds "_orig" to the name of a weight that is
// scaled inside the model, and Pick accepts both. An array that the model does not use is an error, since the file is
// then probably of another model. Missing arrays and wrong shapes are left to [train.Evaluate].
func Pick(c models.Config, features, classes int,
	read map[string]train.Array) (wanted map[string]train.Array, names map[string]string, err error) {
	parameters, err := models.Parameters(c, features, classes)
	if err != nil {
		return nil, nil, err
	}
	wanted, names = map[string]train.Array{}, map[string]string{}
	used := map[string]bool{}
	for _, p := range parameters {
		plain := strings.TrimSuffix(p.Name, scaled)
		for _, name := range []string{p.Name, plain, plain + scaled} {
			if a, ok := read[name]; ok {
				wanted[p.Name], names[p.Name], used[name] = a, name, true
				break
			}
		}
	}
	unused := c.Unused()
	for _, name := range slices.Sorted(maps.Keys(read)) {
		if !used[name] && !slices.Contains(unused, name) {
			return nil, nil, fmt.Errorf("the weights have a parameter %q, which %s with these settings has not; "+
				"give the settings that the weights were trained with", name, c.Model)
		}
	}
	return wanted, names, nil
}

// Of returns the probability that a node belongs to a class. Both count from 0.
func (p *Prediction) Of(node, class int) float64 { return p.Probabilities[node*len(p.Classes)+class] }

// Write writes the prediction to a file, as a whole or not at all: .csv has a row for each node, with its id and the
// probabilities of the classes by name; .npz has the [Prediction.arrays].
func (p *Prediction) Write(path string) error {
	return write(path, p.IDs, p.Classes, p.Probabilities, p.arrays())
}

// WriteEmbeddings writes what the model's last layer reads of each node, as [Prediction.Write] does: .csv has the
// columns id, e0, e1 and so on, and .npz the array representation, [nodes, width].
func (p *Prediction) WriteEmbeddings(path string) error {
	names, values := make([]string, p.Width), make([]float64, len(p.Representation))
	for k := range names {
		names[k] = fmt.Sprint("e", k)
	}
	for i, v := range p.Representation {
		values[i] = float64(v)
	}
	return write(path, p.IDs, names, values, outputs(&p.Prediction, len(p.IDs))[1:])
}

// write writes a table of values, [ids, names] row by row, to a .csv file, or arrays to an .npz file.
func write(path string, ids, names []string, values []float64, arrays []npz.Named) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return files.Write(path, func(to io.Writer) error {
			w := csv.NewWriter(to)
			w.Write(append([]string{"id"}, names...)) // the method Error below returns any error
			row := make([]string, 1+len(names))
			for i, id := range ids {
				row[0] = id
				for k, v := range rowOf(values, i, len(names)) {
					row[1+k] = strconv.FormatFloat(v, 'g', 9, 64)
				}
				w.Write(row)
			}
			w.Flush()
			return w.Error()
		})
	case ".npz":
		return npz.Write(path, arrays)
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

// arrays returns probabilities [nodes, classes] and the [outputs].
func (p *Prediction) arrays() []npz.Named {
	probabilities := make([]float32, len(p.Probabilities))
	for i, v := range p.Probabilities {
		probabilities[i] = float32(v)
	}
	return append([]npz.Named{{Name: "probabilities", Shape: []int{len(p.IDs), len(p.Classes)}, Values: probabilities}},
		outputs(&p.Prediction, len(p.IDs))...)
}

// outputs returns logits [n, count] or, for one output, [n], and representation [n, width].
func outputs(p *train.Prediction, n int) []npz.Named {
	shape := []int{n, p.Outputs}
	if p.Outputs == 1 {
		shape = shape[:1]
	}
	return []npz.Named{{Name: "logits", Shape: shape, Values: p.Logits},
		{Name: "representation", Shape: []int{n, p.Width}, Values: p.Representation}}
}

// Compared returns an evaluation of a model on n nodes as arrays: "logits" [n, outputs] or, for one output, [n];
// "representation" [n, width], which the classifier reads; "loss", a single value; and "grad.<name>" for each
// parameter. The map names has the names of parameters in the file of weights; see [Pick].
func Compared(p *train.Prediction, n int, names map[string]string) []npz.Named {
	out := append(outputs(p, n),
		npz.Named{Name: "loss", Values: []float32{float32(p.Loss)}})
	for _, name := range slices.Sorted(maps.Keys(p.Gradients)) {
		g := p.Gradients[name]
		out = append(out, npz.Named{Name: "grad." + cmp.Or(names[name], name), Shape: g.Shape, Values: g.Values})
	}
	return out
}
