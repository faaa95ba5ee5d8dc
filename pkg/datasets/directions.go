package datasets

import (
	"fmt"
	"path/filepath"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/npz"
)

// addDirections gives a public dataset's graph the directions of its edges, if the dataset has a file of them and that
// is in dir. Most models read none: a file that is not there, or wrong, is no error here, but the graph says why it has
// no directions, for models that do.
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

// readDirections reads a file with Platonov's keys that has the graph's edges in their directions.
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

// withDirections gives a graph the directions of its edges as they were read: from the first node to the second.
func withDirections(g *graphs.Graph, ends []graphs.Edge) (*graphs.Graph, error) {
	arcs := make([]graphs.Arc, len(ends))
	for i, e := range ends {
		arcs[i] = graphs.Arc(e)
	}
	return g.WithArcs(arcs)
}
