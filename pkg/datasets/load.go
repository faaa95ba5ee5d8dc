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
//   - one of the paper's datasets (see Names), downloaded first if it is missing and opts allow the download. A
//     homophilic dataset with "-balanced" after its name gets the splits of BalancedSplits;
//   - "minesweeper-generated", with or without settings (see ParseMinesweeper);
//   - a file ending in .npz. For n nodes with d features and m edges, it has the arrays node_features [n,d] (real
//     numbers or integers) and edges [m,2]. Further arrays are optional: node_labels [n] (-1 where the class is not
//     known), the masks train_masks, val_masks and test_masks [splits,n], and directed. The array directed has one
//     value, which is true if each edge leads from its first node to its second;
//   - a folder with nodes.csv and edges.csv. The header of nodes.csv names the column id and any number of features.
//     Two more columns are optional: label (empty where the class is not known) and split (train, val, test or empty).
//     edges.csv has two columns of ids, with or without a header. If edges lead from the first id to the second, their
//     file is named directed_edges.csv instead.
//
// Squirrel and Chameleon have the directions of their edges in a separate file ([data.Dataset].Directed), which is
// downloaded with the other files. If this file is missing or damaged, the graph is undirected, and the field
// ArcsMissing of the graph gives the reason.
//
// The features of the five homophilic datasets are normalised row by row (see RowNormalise), as in the paper's
// experiments. All other features are as stored. Graphs whose files have no splits get the ten random splits of
// PaperSplits.
//
// The first time that a process reads a public dataset's files, Load compares their checksums with the manifest. If the
// same process loads the dataset again, Load checks only those files whose size or modification time has changed.
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
		RowNormalise(g.Features, g.NumFeatures)
		g.RowNormalised = true
	}
	if g.Name = name; name != info.Name {
		g.Splits = BalancedSplits(g.Labels, g.NumClasses)
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
			return wrap(path)(withDirections(g, npzEdges(z, g.NumNodes)))
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

// loadPath reads a user's own graph. The argument name is the path of its file or folder. The argument noSuchName is
// the error that no dataset has this name. loadPath returns this error if there is no file at the path and name does
// not look like a path.
func loadPath(name string, noSuchName error) (g *graphs.Graph, err error) {
	info, err := os.Stat(name)
	switch {
	case strings.HasSuffix(strings.ToLower(name), ".npz"):
		g, err = withNPZ(name, name, platonovGraph)
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsRune(name, filepath.Separator):
		err = fmt.Errorf("there is no dataset folder %s; give an .npz file, or a folder with edges.csv and nodes.csv", name)
	case err != nil:
		err = noSuchName
	case !info.IsDir():
		err = fmt.Errorf("%s is neither an .npz file nor a folder; give one of them, or one of %s",
			name, strings.Join(Names(), ", "))
	default:
		g, err = folderGraph(name)
	}
	if err == nil && g.NumNodes == 0 {
		err = fmt.Errorf("%s holds a graph without nodes; there is nothing to learn from", name)
	}
	return g, err
}

// RowNormalise divides each row of a matrix by max(1, s), in place, where s is the sum of the row. Rows whose sum is at
// most 1, such as rows of zeros, therefore stay as they are. The slice x holds the rows one after the other, each with
// the given number of columns.
//
// The paper's experiments on homophilic datasets use features that are normalised in this way. NormalizeFeatures of
// PyTorch Geometric does the same if the smallest number in the matrix is 0.
func RowNormalise(x []float32, columns int) {
	if columns <= 0 {
		return
	}
	for ; len(x) >= columns; x = x[columns:] {
		sum := 0.0
		for _, v := range x[:columns] {
			sum += float64(v)
		}
		if sum <= 1 {
			continue
		}
		for i := range columns {
			x[i] = float32(float64(x[i]) / sum)
		}
	}
}
