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

// Lock is an exclusive lock on a file name, which the system releases when the process ends, even after a crash.
type Lock struct{ file *flock.Flock }

// TryLock locks the file at path, and creates it if it is missing. It returns nil if another process or goroutine has
// the lock. On file systems without locks, every caller gets it.
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
		l.file.Close() // another process has removed this file in the meantime: try again
	}
}

// current tells whether no other process has removed the locked file.
func (l *Lock) current() bool {
	locked, err := l.file.Stat()
	named, missing := os.Stat(l.file.Path())
	return err == nil && missing == nil && os.SameFile(locked, named)
}

// AwaitLock is [TryLock], but waits for the lock, or returns the error of ctx.
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

// Release releases the lock and removes the file. It does nothing for a nil lock.
func (l *Lock) Release() {
	if l == nil || l.file == nil {
		return
	}
	// The file is removed while it is locked: otherwise another process could lock it just before its removal.
	os.Remove(l.file.Path())
	l.file.Close()
}
