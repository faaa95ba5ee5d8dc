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

// Lock is an exclusive lock on a file name. The operating system releases the lock when the process ends, even after a
// crash.
type Lock struct{ file *flock.Flock }

// TryLock locks the file at path. If there is no such file, TryLock creates it. If another process or goroutine has the
// lock, TryLock returns nil and no error. [Lock.Release] removes the file. After a crash the file may remain, but is
// not locked any more. On file systems that do not support locks, every caller gets the lock.
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

// current tells whether the locked file is still the file at its path. If not, another process has removed the locked
// file.
func (l *Lock) current() bool {
	locked, err := l.file.Stat()
	named, missing := os.Stat(l.file.Path())
	return err == nil && missing == nil && os.SameFile(locked, named)
}

// AwaitLock does the same as [TryLock], but waits until it gets the lock. If ctx ends first, AwaitLock returns the
// error of ctx.
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

// Release releases the lock and removes the file. For a nil lock it does nothing.
func (l *Lock) Release() {
	if l == nil || l.file == nil {
		return
	}
	// The file is removed while it is still locked. Otherwise another process could lock it just before its removal,
	// and would then hold a lock on a removed file. If the file cannot be removed, it stays, and the next lock uses it.
	os.Remove(l.file.Path())
	l.file.Close()
}
