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

// Lock is a claim on a name, held by one place in one process at a time. The operating system gives it back when the
// process ends, however that happens.
type Lock struct{ file *flock.Flock }

// TryLock claims a name: that of a file that is there as long as somebody has the claim, and for nothing else. It
// returns nil, without an error, where another has it. On file systems that know no locks everybody gets the claim.
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
		l.file.Close() // whoever had it removed the file meanwhile
	}
}

// current tells whether the file is still the one of that name.
func (l *Lock) current() bool {
	locked, err := l.file.Stat()
	named, missing := os.Stat(l.file.Path())
	return err == nil && missing == nil && os.SameFile(locked, named)
}

// AwaitLock is [TryLock] that waits until it has the claim, or until ctx ends, which is its error then.
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

// Release gives the claim back, and removes the file. A nil lock has nothing to give back.
func (l *Lock) Release() {
	if l == nil || l.file == nil {
		return
	}
	// While it is locked: who opens it afterwards opens another file. Where that fails, it stays, for the next claim.
	os.Remove(l.file.Path())
	l.file.Close()
}
