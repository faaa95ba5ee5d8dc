package datasets

import (
	"fmt"
	"path/filepath"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/npz"
)

// addDirections adds the directions of the edges to the graph g of a public dataset. It does nothing if the dataset has
// no file with directions. The file must be in the folder dir.
//
// A missing or damaged file is no error here, since most models do not read directions. Instead, the field ArcsMissing
// of the returned graph says what is wrong with the file. The error message of a model that needs directions quotes
// this field.
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

// readDirections reads the directions of a graph's edges from an archive. The archive has the array edges with two
// columns. Each row of this array is an edge, which leads from the node in the first column to the node in the second.
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

// withDirections returns a copy of the graph g in which the edges have directions. The argument ends lists the directed
// edges. Each of them leads from its first node to its second.
func withDirections(g *graphs.Graph, ends []graphs.Edge) (*graphs.Graph, error) {
	arcs := make([]graphs.Arc, len(ends))
	for i, e := range ends {
		arcs[i] = graphs.Arc(e)
	}
	return g.WithArcs(arcs)
}
