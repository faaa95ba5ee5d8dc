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
		return withNPZ(path(0), func(z *npz.File) (*graphs.Graph, error) { return platonovGraph(z, info.Name) })
	case data.GNNBenchmark:
		return withNPZ(path(0), func(z *npz.File) (*graphs.Graph, error) { return benchmarkGraph(z, info.Name) })
	case data.Planetoid:
		return planetoidGraph(info.Name, func(part string) ([]byte, error) {
			return files.Read(filepath.Join(dir, "ind."+info.Name+"."+part), "the published file", maxPlanetoidBytes)
		})
	}
	return nil, fmt.Errorf("dataset %s: the manifest names the unknown format %q; rebuild from a clean checkout",
		info.Name, info.Format)
}

// loadPath reads a user's own graph. The argument name is the path of its file or folder. The argument noSuchName is
// the error that no dataset has this name. loadPath returns this error if there is no file at the path and name does
// not look like a path.
func loadPath(name string, noSuchName error) (*graphs.Graph, error) {
	g, err := parsePath(name, noSuchName)
	if err == nil && g.NumNodes == 0 {
		return nil, fmt.Errorf("%s holds a graph without nodes; there is nothing to learn from", name)
	}
	return g, err
}

func parsePath(name string, noSuchName error) (*graphs.Graph, error) {
	if strings.HasSuffix(strings.ToLower(name), ".npz") {
		return withNPZ(name, func(z *npz.File) (*graphs.Graph, error) { return platonovGraph(z, name) })
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && strings.ContainsRune(name, filepath.Separator):
		return nil, fmt.Errorf("there is no dataset folder %s; "+
			"give an .npz file, or a folder with edges.csv and nodes.csv", name)
	case err != nil:
		return nil, noSuchName
	case !info.IsDir():
		return nil, fmt.Errorf("%s is neither an .npz file nor a folder; give one of them, or one of %s",
			name, strings.Join(Names(), ", "))
	}
	return folderGraph(name)
}

// withNPZ opens the archive at path, and closes it after parse has read the graph from it.
func withNPZ(path string, parse func(*npz.File) (*graphs.Graph, error)) (*graphs.Graph, error) {
	z, err := npz.Open(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return parse(z)
}
