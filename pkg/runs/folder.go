package runs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/files"
)

// folder is the folder of a sweep's results. Other processes may write the results of other splits there: claims are
// the locks of the splits that this process trains on.
type folder struct {
	dir    string
	splits []int
	claims []*files.Lock
}

const resultName = "result.json"

func recordName(split int) string     { return fmt.Sprintf("split%d.json", split) }
func weightsName(split int) string    { return fmt.Sprintf("split%d.safetensors", split) }
func checkpointName(split int) string { return fmt.Sprintf("split%d.checkpoint", split) }

// openFolder creates the folder and locks the splits in it. It returns an error if files cannot be written there, or if
// another process has one of the splits.
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

func (f *folder) close() {
	for _, c := range f.claims {
		c.Release()
	}
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

// setAside moves the summary of an earlier sweep, and its files for the splits of this one, into a new subfolder, and
// returns its path; "" if there are none.
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

// removeCheckpoint must not be called before the split's result is stored: until then it is needed to resume.
func (f *folder) removeCheckpoint(split int) error {
	if err := os.Remove(f.path(checkpointName(split))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("split %d is done, but its checkpoint cannot be removed: %w", split, err)
	}
	return nil
}
