package datasets

import (
	"fmt"
	"math"

	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/npz"
)

// Limits on numbers that a file states. Memory is allocated in proportion to these numbers, so that a wrong number
// could ask for too much memory. (The sizes of files have limits of their own.)
const (
	maxNodes   = 1 << 24
	maxClasses = 1 << 16
	maxSplits  = 1000
	maxDim     = math.MaxInt32 // rows or columns of a sparse matrix
)

func checkNodes(n int) error {
	if n > maxNodes {
		return fmt.Errorf("%d nodes are more than the limit of %d", n, maxNodes)
	}
	return nil
}

// maskKeys are the names of the arrays that hold the masks of the splits. Archives with the array names of Platonov et
// al. have these arrays.
var maskKeys = [3]string{"train_masks", "val_masks", "test_masks"}

func hasMasks(z *npz.File) bool {
	return z.Has(maskKeys[0]) || z.Has(maskKeys[1]) || z.Has(maskKeys[2])
}

// checkPlatonov checks an archive with the array names of Platonov et al. before any array is unpacked. It reads the
// shapes of the arrays from their headers. It checks that the shapes fit each other and do not exceed the limits. It
// returns the numbers of nodes and of features.
func checkPlatonov(z *npz.File) (nodes, features int, err error) {
	shape, err := z.Shape("node_features", 2)
	if err != nil {
		return 0, 0, err
	}
	nodes, features = shape[0], shape[1]
	if err := checkNodes(nodes); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", z.Path, err)
	}
	if z.Has(labelsKey) {
		if err := checkLabels(z, labelsKey, nodes); err != nil {
			return 0, 0, err
		}
	}
	if err := checkEdges(z); err != nil {
		return 0, 0, err
	}
	if err := checkMasks(z, nodes); err != nil {
		return 0, 0, err
	}
	if err := machine.Room(splitBytes(nodes)); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", z.Path, err)
	}
	return nodes, features, nil
}

// splitBytes is the memory, in bytes, for the splits of a graph whose file has no splits. Such a graph gets ten splits
// of three masks each. Each mask has one byte for each node.
func splitBytes(nodes int) int64 { return 30 * int64(nodes) }

func checkLabels(z *npz.File, key string, n int) error {
	shape, err := z.Shape(key, 1)
	if err == nil && shape[0] != n {
		err = fmt.Errorf("%s: %d values in %q for %d nodes; each node needs one label", z.Path, shape[0], key, n)
	}
	return err
}

func checkEdges(z *npz.File) error {
	shape, err := z.Shape("edges", 2)
	if err == nil && shape[1] != 2 {
		err = fmt.Errorf("%s: array %q has shape %v, but needs two columns", z.Path, "edges", shape)
	}
	return err
}

func checkMasks(z *npz.File, n int) error {
	if !hasMasks(z) {
		return nil
	}
	count := 0
	for k, key := range maskKeys {
		shape, err := z.Shape(key, 2)
		if err != nil {
			return err
		}
		if k == 0 {
			count = shape[0]
		}
		if shape[0] != count || shape[1] != n || count > maxSplits {
			return fmt.Errorf("%s: array %q has shape %v; "+
				"all three masks need [splits, %d] with at most %d splits", z.Path, key, shape, n, maxSplits)
		}
	}
	return nil
}
