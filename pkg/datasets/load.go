package datasets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/npz"
)

// Load returns the graph that name stands for:
//
//   - one of the paper's datasets ([Names]), downloaded first if it is missing and opts allow it; "-balanced" after the
//     name of a homophilic one stands for the splits of [BalancedSplits];
//   - "minesweeper-generated", with or without settings ([ParseMinesweeper]);
//   - a file ending in .npz, for n nodes with d features and m edges: node_features [n,d], edges [m,2], and optionally
//     node_labels [n] (-1 where the class is not known), edge_weights [m], train_masks, val_masks and test_masks
//     [splits,n], and directed, one value, true if edges lead from their first node to their second; or PyTorch
//     Geometric's x, edge_index, y, edge_weight, train_mask, val_mask and test_mask;
//   - a file ending in .json, as networkx.node_link_data describes a graph;
//   - a folder with nodes.csv, whose header names the column id, any number of features, and optionally label (empty
//     where the class is not known) and split (train, val, test or empty); and edges.csv, two columns of ids
//     and optionally weight, or directed_edges.csv if edges lead from the first id to the second.
//
// The directions of Squirrel's and Chameleon's edges are in a file of their own ([data.Dataset].Directed). If it is
// missing or damaged, the graph is undirected, and its field ArcsMissing says why.
//
// The features of the five homophilic datasets are normalised ([graphs.RowNormalise]), as in the paper's experiments.
// Graphs whose files have no splits get the [PaperSplits], or the [ClassSplits] if one of these lacked a class in a
// part.
//
// A process compares the checksums of a public dataset's files with the manifest when it first reads them, and again if
// their size or time has changed.
func Load(ctx context.Context, name string, opts Options) (*graphs.Graph, error) {
	if isGenerated(name) {
		m, err := ParseMinesweeper(name)
		if err != nil {
			return nil, &NameError{err}
		}
		return m.Graph()
	}
	info, err := Info(name)
	if err != nil {
		return loadPath(name, err)
	}
	dir, err := ensure(ctx, info, opts)
	if err != nil {
		return nil, err
	}
	g, err := parseRaw(info, dir)
	if err != nil {
		return nil, err
	}
	if info.Format != data.Platonov {
		graphs.RowNormalise(g.Features, g.NumFeatures)
		g.RowNormalised = true
	}
	if g.Name = name; name != info.Name {
		g.Splits = BalancedSplits(g.Labels, g.NumClasses)
	}
	if here, err := os.Stat(name); err == nil && here.IsDir() {
		g.Notes = append(g.Notes, fmt.Sprintf("%s is the public dataset; the folder of this name here is %s",
			name, "."+string(filepath.Separator)+name))
	}
	return addDirections(g, info, dir), nil
}

// parseRaw reads a public dataset from its files in dir. It leaves the features as they are stored.
func parseRaw(info data.Dataset, dir string) (*graphs.Graph, error) {
	path := func(i int) string { return filepath.Join(dir, info.Files[i].Name) }
	switch info.Format {
	case data.Platonov:
		return withNPZ(path(0), info.Name, platonovGraph)
	case data.GNNBenchmark:
		return withNPZ(path(0), info.Name, benchmarkGraph)
	case data.Planetoid:
		return planetoidGraph(info.Name, func(part string) ([]byte, error) {
			return files.Read(filepath.Join(dir, "ind."+info.Name+"."+part), "the published file", maxPlanetoidBytes)
		})
	}
	return nil, fmt.Errorf("dataset %s: the manifest names the unknown format %q; rebuild from a clean checkout",
		info.Name, info.Format)
}

// withNPZ opens the archive at path, and closes it after parse has read the graph from it.
func withNPZ(path, name string, parse func(z *npz.File, name string) (*graphs.Graph, error)) (*graphs.Graph, error) {
	z, err := npz.Open(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return parse(z, name)
}

// addDirections adds the directions of a public dataset's edges, if it has them: the array edges, each from its first
// column's node to its second's. If the file is missing or damaged, ArcsMissing says so: most models need none.
func addDirections(g *graphs.Graph, info data.Dataset, dir string) *graphs.Graph {
	if info.Directed == nil {
		return g
	}
	path, directed := filepath.Join(dir, info.Directed.Name), g
	err := verifyOnce(path, *info.Directed)
	if err == nil {
		directed, err = withNPZ(path, g.Name, func(z *npz.File, _ string) (out *graphs.Graph, err error) {
			defer returned(&err)
			return wrap(path)(withDirections(g, npzEdges(z, "edges", g.NumNodes)))
		})
	}
	if err != nil {
		g.ArcsMissing = fmt.Sprintf("%v; fetch it with `revgnn datasets get %s`", err, info.Name)
		return g
	}
	return directed
}

func withDirections(g *graphs.Graph, ends []graphs.Edge) (*graphs.Graph, error) {
	arcs := make([]graphs.Arc, len(ends))
	for i, e := range ends {
		arcs[i] = graphs.Arc(e)
	}
	return g.WithArcs(arcs)
}

// loadPath reads a user's own graph from a file or folder; noSuchName is the error if name is no path either.
func loadPath(name string, noSuchName error) (g *graphs.Graph, err error) {
	info, err := os.Stat(name)
	switch {
	case strings.HasSuffix(strings.ToLower(name), ".npz"):
		g, err = withNPZ(name, name, platonovGraph)
	case strings.HasSuffix(strings.ToLower(name), ".json"):
		g, err = nodeLinkGraph(name)
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsRune(name, filepath.Separator):
		err = fmt.Errorf("there is no dataset folder %s; give an .npz or .json file, or a folder with edges.csv and nodes.csv", name)
	case err != nil:
		err = noSuchName
	case !info.IsDir():
		err = fmt.Errorf("%s is neither an .npz or .json file nor a folder; give one of them, or one of %s",
			name, strings.Join(Names(), ", "))
	default:
		g, err = folderGraph(name)
	}
	if err == nil && g.NumNodes == 0 {
		err = fmt.Errorf("%s holds a graph without nodes; there is nothing to learn from", name)
	}
	return g, err
}
