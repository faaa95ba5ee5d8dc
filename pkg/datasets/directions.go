package datasets

import (
	"fmt"
	"path/filepath"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/npz"
)

// addDirections gives a public dataset's graph the directions of its edges, if the dataset has a file with directions
// and this file is in dir. Most models do not read directions, so that a missing or wrong file is no error here.
// Instead, the graph's field ArcsMissing says what is wrong with the file. The error message of a model that needs
// directions quotes this field.
func addDirections(g *graphs.Graph, info data.Dataset, dir string) *graphs.Graph {
	if info.Directed == nil {
		return g
	}
	directed, err := readDirections(g, filepath.Join(dir, info.Directed.Name), *info.Directed)
	if err != nil {
		out := *g
		out.ArcsMissing = fmt.Sprintf("%v; fetch it with `revgnn datasets get %s`", err, info.Name)
		return &out
	}
	return directed
}

// readDirections reads the directions of a graph's edges from an archive with the array edges [m,2]. Each row of this
// array is an edge that goes from the first node to the second.
func readDirections(g *graphs.Graph, path string, file data.File) (*graphs.Graph, error) {
	if err := verifyOnce(path, file); err != nil {
		return nil, err
	}
	return withNPZ(path, func(z *npz.File) (*graphs.Graph, error) {
		ends, err := npzEdges(z, g.NumNodes)
		if err != nil {
			return nil, err
		}
		return wrap(path)(withDirections(g, ends))
	})
}

// withDirections returns the graph with directions of its edges. Each of the given edges leads from its first node to
// its second.
func withDirections(g *graphs.Graph, ends []graphs.Edge) (*graphs.Graph, error) {
	arcs := make([]graphs.Arc, len(ends))
	for i, e := range ends {
		arcs[i] = graphs.Arc(e)
	}
	return g.WithArcs(arcs)
}
