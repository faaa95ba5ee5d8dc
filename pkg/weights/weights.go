// Package weights reads and writes the parameters of models as .npz or .safetensors files, under the names of the
// PyTorch implementation of the paper's authors.
package weights

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/npz"
	"github.com/revgnn/revgnn/pkg/safetensors"
	"github.com/revgnn/revgnn/pkg/train"
)

// maxValues limits what a small compressed file can unpack into memory.
const maxValues = 1 << 28

// Prefix marks the names of parameters in files that also hold other arrays.
const Prefix = "param."

// others begin the names of arrays that are outputs or gradients, not parameters.
var others = []string{"out.logits", "out.representation", "out.loss", "grad."}

// counter ends the names of arrays in which PyTorch's batch normalisation counts batches.
const counter = ".num_batches_tracked"

// Read reads the parameters in an .npz or .safetensors file: the arrays "param.<name>" if there are any, or else all
// except outputs and gradients. PyTorch's counters of batches are left out.
func Read(path string) (map[string]train.Array, error) {
	f, err := ReadFile(path)
	return f.Parameters, err
}

// File is the content of a file of weights.
type File struct {
	Parameters map[string]train.Array
	// Metadata is that of a .safetensors file.
	Metadata map[string]string
	// Sealed is true if the file has a checksum that revgnn wrote and that is right.
	Sealed bool
}

// ReadFile is [Read] with the metadata.
func ReadFile(path string) (f File, err error) {
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
		names, array, f.Metadata, f.Sealed = s.Names(), s.Float32s, s.Metadata, s.Sealed
	default:
		return f, unknownFormat(path)
	}
	f.Parameters, err = read(path, names, array)
	return f, err
}

func read(path string, names []string,
	array func(string) ([]float32, []int, error)) (map[string]train.Array, error) {
	out := map[string]train.Array{}
	total := 0
	for _, stored := range parameters(names) {
		values, shape, err := array(stored)
		if err != nil {
			return nil, fmt.Errorf("weights: %w", err)
		}
		if total += len(values); total > maxValues {
			return nil, fmt.Errorf("weights: %s holds more than %d values, the limit", path, maxValues)
		}
		out[strings.TrimPrefix(stored, Prefix)] = train.Array{Shape: shape, Values: values}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("weights: %s holds no parameters; name them as in PyTorch, with or without %q before",
			path, Prefix)
	}
	return out, nil
}

func unknownFormat(path string) error {
	return fmt.Errorf("weights: %s ends neither in .npz nor in .safetensors; name the file by its format", path)
}

func parameters(names []string) []string {
	marked := slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, Prefix) })
	return slices.DeleteFunc(names, func(name string) bool {
		if strings.HasSuffix(name, counter) {
			return true
		}
		if marked {
			return !strings.HasPrefix(name, Prefix)
		}
		return slices.ContainsFunc(others, func(o string) bool { return strings.HasPrefix(name, o) })
	})
}

// Write writes parameters to an .npz or .safetensors file, as a whole or not at all. Equal parameters give equal files,
// byte for byte.
func Write(path string, parameters map[string]train.Array) error {
	return WriteFile(path, parameters, nil)
}

// WriteFile is [Write] with metadata, which only a .safetensors file can have.
func WriteFile(path string, parameters map[string]train.Array, metadata map[string]string) error {
	names := slices.Sorted(maps.Keys(parameters))
	switch strings.ToLower(filepath.Ext(path)) {
	case ".npz":
		if len(metadata) > 0 {
			return fmt.Errorf("weights: %s cannot say what model it is of: give it a name that ends in .safetensors",
				path)
		}
		var arrays []npz.Named
		for _, n := range names {
			arrays = append(arrays,
				npz.Named{Name: Prefix + n, Shape: parameters[n].Shape, Values: parameters[n].Values})
		}
		return npz.Write(path, arrays)
	case ".safetensors":
		var arrays []safetensors.Named
		for _, n := range names {
			arrays = append(arrays,
				safetensors.Named{Name: n, Shape: parameters[n].Shape, Values: parameters[n].Values})
		}
		return safetensors.Write(path, arrays, metadata)
	}
	return unknownFormat(path)
}

// For picks the arrays that a model needs out of those that [Read] returns, under the names of its parameters; names
// maps these to the names in the file. They may differ: PyTorch adds "_orig" to the name of a weight that is scaled
// inside the model, and For accepts both. An array that the model does not use is an error, since the file is then
// probably of another model. Missing arrays and wrong shapes are left to [train.Predict].
func For(c models.Config, features, classes int,
	read map[string]train.Array) (wanted map[string]train.Array, names map[string]string, err error) {
	parameters, err := models.Parameters(c, features, classes)
	if err != nil {
		return nil, nil, err
	}
	wanted, names = map[string]train.Array{}, map[string]string{}
	used := map[string]bool{}
	for _, p := range parameters {
		for _, name := range []string{p.Name, other(p.Name)} {
			if a, ok := read[name]; ok {
				wanted[p.Name], names[p.Name], used[name] = a, name, true
				break
			}
		}
	}
	unused := models.Unused(c)
	for _, name := range slices.Sorted(maps.Keys(read)) {
		if !used[name] && !slices.Contains(unused, name) {
			return nil, nil, fmt.Errorf("the weights have a parameter %q, which %s with these settings has not; "+
				"give the settings that the weights were trained with", name, c.Model)
		}
	}
	return wanted, names, nil
}

// other returns the second name that a weight may have: with or without "_orig".
func other(name string) string {
	const mark = "_orig"
	if plain, ok := strings.CutSuffix(name, mark); ok {
		return plain
	}
	return name + mark
}
