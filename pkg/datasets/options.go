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
	// Dir is the data directory. If it is empty, the function Dir chooses the directory. The directory may be read-only
	// if it already holds the files.
	Dir string
	// Mirror is the place from which files come instead of their public addresses: a folder, or an http or https
	// address. Each file has its usual name there.
	Mirror string
	// Offline forbids network access; a Mirror that is a folder still works.
	Offline bool
	// Progress, if set, is called while a file is fetched, with the number of bytes fetched so far and the file's size.
	Progress func(file string, done, total int64)
}

// Dir returns the path of the data directory. This is the argument (the value of the command-line flag --data), unless
// the argument is empty. Otherwise it is the value of the environment variable REVGNN_DATA. If this variable is not
// set, it is the folder "revgnn/data" in the user's cache folder. The directory need not exist yet.
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

// Names returns the names of all datasets: the twelve of the paper, in the order of the paper, and then
// "minesweeper-generated".
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

// Info describes the dataset with the given name: a public dataset (whose name may end in "-balanced", see [Load]) or a
// generated one, which has no files. For an unknown name, the error lists the known names that are similar. If no name
// is similar, it lists all names.
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
// other graphs it is data.ROCAUC if there are two classes, and data.Accuracy otherwise.
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

// NameError is the error for a name that stands for no dataset, or that has wrong settings for a generated graph. The
// type lets callers tell a wrong name from an error of a file or of the network.
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

// like tells whether a typed name resembles a known name. There are two ways to resemble it. The typed name may begin
// with the known name. Or a few changes may turn the typed name into the beginning of the known name: changes of at
// most a quarter of the typed bytes, or of one byte in a short name. Hyphens, underscores and spaces do not count.
func like(typed, known string) bool {
	flat := strings.NewReplacer("-", "", "_", "", " ", "").Replace
	a, b := flat(typed), flat(known)
	if len(a) < 3 || len(a) > 64 {
		return false
	}
	return strings.HasPrefix(a, b) || startDistance(a, b) <= max(1, len(a)/4)
}

// startDistance compares a with every beginning of b, that is, with the first k bytes of b for each k. It returns the
// smallest Levenshtein distance: the number of bytes to change, add or remove.
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
