//go:build unix

package datasets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockFolder takes a lock on the folder dir, so that two processes do not download into one file at the same time. If
// another process holds the lock, lockFolder waits. The operating system releases the lock when the process that holds
// it ends, even after a crash. The lock is taken on the empty file .lock, which stays in the folder.
func lockFolder(ctx context.Context, dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, unwritable(dir, err)
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			// Some network file systems have no locks. The download then goes on without a lock. The file is verified
			// in any case.
			return func() { f.Close() }, nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("cancelled while another process downloads into %s (%w)", dir, context.Cause(ctx))
		}
	}
}
