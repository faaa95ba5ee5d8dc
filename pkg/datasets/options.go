package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/graphs"
)

// Options say where dataset files are kept and come from. The zero value uses the default folder and public addresses.
type Options struct {
	// Dir is the data directory. If it is empty, the directory is what the function Dir returns for "". It may be
	// read-only if it already holds the files.
	Dir string
	// Mirror is where files come from instead of their public addresses: a folder, or an http or https address, under
	// which each file has its usual name.
	Mirror string
	// Offline forbids network access; a Mirror that is a folder still works.
	Offline bool
	// Progress, if set, is called while a file is fetched, with the number of bytes fetched so far and the file's size.
	Progress func(file string, done, total int64)
}

// Dir returns the data directory: flag if it is not empty, else the value of the environment variable REVGNN_DATA, else
// "revgnn/data" in the user's cache folder. The directory need not exist yet.
func Dir(flag string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	if dir := os.Getenv("REVGNN_DATA"); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no data directory: there is no user cache folder (%w); set REVGNN_DATA or give --data",
			err)
	}
	return filepath.Join(cache, "revgnn", "data"), nil
}

// Names returns the names of all datasets: the paper's twelve in its order, then the generator.
func Names() []string {
	sets, err := data.Datasets()
	if err != nil {
		return []string{MinesweeperGenerated}
	}
	names := make([]string, 0, len(sets)+1)
	for _, s := range sets {
		names = append(names, s.Name)
	}
	return append(names, MinesweeperGenerated)
}

// Info describes a public dataset (whose name may end in "-balanced", see [Load]) or the generator, which has no files.
// For an unknown name, the error lists the known names that are similar. If there are none, it lists all names.
func Info(name string) (data.Dataset, error) {
	sets, err := data.Datasets()
	if err != nil {
		return data.Dataset{}, err
	}
	for _, s := range sets {
		if s.Name == name || s.Name+data.Balanced == name && s.Format != data.Platonov {
			return s, nil
		}
	}
	if isGenerated(name) {
		return data.Dataset{Name: name, Task: data.ROCAUC, Licence: "none needed: generated",
			Citation: "Generated after the Minesweeper dataset of Platonov et al., ICLR 2023."}, nil
	}
	return data.Dataset{}, unknown(name)
}

// Task returns the metric for a graph g from Load(name). For a known dataset it is the metric that the paper uses. For
// other graphs, it is data.ROCAUC if there are two classes, and data.Accuracy otherwise.
func Task(name string, g *graphs.Graph) string {
	if info, err := Info(name); err == nil {
		return info.Task
	}
	if g != nil && g.NumClasses == 2 {
		return data.ROCAUC
	}
	return data.Accuracy
}

func isGenerated(name string) bool {
	return name == MinesweeperGenerated || strings.HasPrefix(name, MinesweeperGenerated+":")
}

// NameError is the error for a name that stands for no dataset, or that has wrong settings for the generator. Its type
// tells callers that the name is wrong, and not a file or the network.
type NameError struct{ err error }

func (e *NameError) Error() string { return e.err.Error() }
func (e *NameError) Unwrap() error { return e.err }

func unknown(name string) error { return &NameError{unknownName(name)} }

func unknownName(name string) error {
	names := Names()
	var near []string
	for _, n := range names {
		if like(strings.ToLower(name), n) {
			near = append(near, n)
		}
	}
	if len(near) == 0 {
		return fmt.Errorf("unknown dataset %q; known are %s, an .npz file, or a folder with edges.csv and nodes.csv",
			name, strings.Join(names, ", "))
	}
	return fmt.Errorf("unknown dataset %q; did you mean %s?", name, strings.Join(near, " or "))
}

// like tells whether a typed name resembles a known name. It does if it begins with the known name. It also does if the
// beginning of the known name results from a few changes of the typed name: of at most a quarter of its bytes, or of
// one byte if it is short. Hyphens, underscores and spaces do not count.
func like(typed, known string) bool {
	flat := strings.NewReplacer("-", "", "_", "", " ", "").Replace
	a, b := flat(typed), flat(known)
	if len(a) < 3 || len(a) > 64 {
		return false
	}
	return strings.HasPrefix(a, b) || startDistance(a, b) <= max(1, len(a)/4)
}

// startDistance is the least Levenshtein distance (the number of bytes to change, add or remove) between a and the
// first k bytes of b, for any k.
func startDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return slices.Min(row)
}
