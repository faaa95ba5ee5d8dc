package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/files"
)

// folder is the folder in which a sweep stores its results. Several processes may store results in the same folder at
// the same time, but only for different splits. Therefore a process holds a lock for each split that it trains on. The
// field claims has these locks.
type folder struct {
	dir    string
	splits []int
	claims []*files.Lock
}

const resultName = "result.json"

func recordName(split int) string     { return fmt.Sprintf("split%d.json", split) }
func weightsName(split int) string    { return fmt.Sprintf("split%d.safetensors", split) }
func checkpointName(split int) string { return fmt.Sprintf("split%d.checkpoint", split) }

// openFolder creates a folder if it is missing, and checks that files can be written to it. Then it takes a lock for
// each of the given splits, so that no other process writes files of the same splits to this folder. If another process
// already holds one of these locks, openFolder returns an error.
func openFolder(dir string, splits []int) (*folder, error) {
	if err := files.Writable(dir); err != nil {
		return nil, err
	}
	f := &folder{dir: dir, splits: splits}
	for _, k := range splits {
		claim, err := files.TryLock(filepath.Join(dir, fmt.Sprintf(".split%d.lock", k)))
		if claim == nil && err == nil {
			err = fmt.Errorf("another process is training split %d into %s: wait for its end, or choose another folder "+
				"with --out", k, dir)
		}
		if err != nil {
			f.close()
			return nil, err
		}
		f.claims = append(f.claims, claim)
	}
	return f, nil
}

// close releases the locks.
func (f *folder) close() {
	for _, c := range f.claims {
		c.Release()
	}
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

// setAside looks for the summary of an earlier sweep, and for files that it has left for the splits of the present
// sweep. If there are any, it moves them into a new subfolder, and returns the path of this subfolder. So the present
// sweep does not overwrite them. The files of other splits stay. If there is nothing to move, setAside returns "".
func (f *folder) setAside() (to string, err error) {
	var old []string
	names := []string{resultName}
	for _, k := range f.splits {
		names = append(names, recordName(k), weightsName(k), checkpointName(k))
	}
	for _, name := range names {
		if _, err := os.Lstat(f.path(name)); err == nil {
			old = append(old, name)
		}
	}
	if len(old) == 0 {
		return "", nil
	}
	for n := 1; ; n++ {
		to = f.path(fmt.Sprintf("earlier-%d", n))
		if err = os.Mkdir(to, 0o777); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	for _, name := range old {
		if err == nil {
			err = os.Rename(f.path(name), filepath.Join(to, name))
		}
		if name == resultName && errors.Is(err, fs.ErrNotExist) {
			err = nil // another process, for other splits, has moved it in the meantime
		}
	}
	if err != nil {
		return "", fmt.Errorf("cannot set an earlier result aside: %w; choose another folder with --out", err)
	}
	return to, nil
}

// removeCheckpoint removes the checkpoint of a split, if there is one. It must not be called before the result of the
// split is stored. If the process ends before that, the checkpoint is needed to resume the training.
func (f *folder) removeCheckpoint(split int) error {
	if err := os.Remove(f.path(checkpointName(split))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("split %d is done, but its checkpoint cannot be removed: %w", split, err)
	}
	return nil
}
