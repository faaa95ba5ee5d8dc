//go:build unix

package files

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

const noWait = syscall.O_NONBLOCK

// Private returns a [PrivacyError] if a file or folder belongs to another user than the user of this process, or if
// other users have any right to access it.
func Private(path string, info fs.FileInfo) error {
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
		return &PrivacyError{fmt.Sprintf("%s belongs to user %d and not to user %d, who runs this", path, s.Uid,
			os.Geteuid())}
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return &PrivacyError{fmt.Sprintf("%s is open to others (mode %04o); take their rights with chmod go= or remove it",
			path, mode)}
	}
	return nil
}
