package files

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// A part is a temporary file: the content of a file is written to the part, which is then renamed. The process that
// writes a part also locks it. A part that is not locked was therefore left by a killed process.
const partSuffix = ".part"

// newPart chooses a name for a part, the temporary file that will be renamed to path. It also locks this name.
func newPart(path string) (part string, lock *Lock, err error) {
	for lock == nil && err == nil { // repeats if another writer has the same random name
		part = filepath.Join(filepath.Dir(path), fmt.Sprintf("%s%08x%s", partPrefix(path), rand.Uint32(), partSuffix))
		lock, err = TryLock(part)
	}
	return part, lock, err
}

func partPrefix(path string) string { return "." + filepath.Base(path) + "." }

// removeParts removes old parts: if a process is killed while it writes the file at path, its part remains, but is not
// locked any more. A part that cannot be removed stays.
func removeParts(path string) {
	dir := filepath.Dir(path)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		random, ours := strings.CutPrefix(e.Name(), partPrefix(path))
		if !ours || !strings.HasSuffix(random, partSuffix) || len(random) != 8+len(partSuffix) {
			continue
		}
		if left, err := tryLock(filepath.Join(dir, e.Name()), 0); err == nil {
			left.Release()
		}
	}
}
