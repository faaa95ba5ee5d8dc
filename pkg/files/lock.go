package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// Lock is an exclusive lock on a name. The operating system releases it when the process ends, however that happens.
type Lock struct{ file *flock.Flock }

// TryLock locks a name: that of a file that exists only while it is locked. It returns nil, without an error, where
// another has the lock. On file systems without locks everybody gets it.
func TryLock(path string) (*Lock, error) { return tryLock(path, os.O_CREATE) }

func tryLock(path string, flags int) (*Lock, error) {
	for {
		l := &Lock{flock.New(path, flock.SetFlag(flags|os.O_RDWR), flock.SetPermissions(0o666))}
		got, err := l.file.TryLock()
		switch {
		case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.ENOLCK):
			if flags&os.O_CREATE != 0 {
				os.Remove(path)
			}
			return &Lock{}, nil
		case err != nil:
			return nil, fmt.Errorf("cannot claim %s: %w", path, err)
		case !got:
			return nil, nil
		case l.current():
			return l, nil
		}
		l.file.Close() // its last holder has removed the file meanwhile
	}
}

// current tells whether the locked file still has its name.
func (l *Lock) current() bool {
	locked, err := l.file.Stat()
	named, missing := os.Stat(l.file.Path())
	return err == nil && missing == nil && os.SameFile(locked, named)
}

// AwaitLock is [TryLock] that waits until it has the lock. If ctx ends first, it returns the context's error.
func AwaitLock(ctx context.Context, path string) (*Lock, error) {
	for {
		if l, err := TryLock(path); l != nil || err != nil {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Release releases the lock and removes the file. A nil lock needs no release.
func (l *Lock) Release() {
	if l == nil || l.file == nil {
		return
	}
	// While it is locked: whoever opens it later opens another file. If removing fails, the file stays for the next
	// lock.
	os.Remove(l.file.Path())
	l.file.Close()
}
