package datasets

import (
	"fmt"
	"path/filepath"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/npz"
)

// addDirections adds the directions of a public dataset's edges, if it has them. If the file is missing or damaged,
// ArcsMissing says so: most models need none.
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

// readDirections reads the array edges, each from its first column's node to its second's.
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

func withDirections(g *graphs.Graph, ends []graphs.Edge) (*graphs.Graph, error) {
	arcs := make([]graphs.Arc, len(ends))
	for i, e := range ends {
		arcs[i] = graphs.Arc(e)
	}
	return g.WithArcs(arcs)
}
