package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/results"
	"github.com/revgnn/revgnn/pkg/train"
)

// Claims are for runs to be recorded in a store, so that processes sharing the store make each run once. A claim is a
// lock in a folder beside the store, named by the run's key; the folder also holds the checkpoints of trainings not
// yet recorded. When a process ends, however that happens, its claims end.
type Claims struct{ dir string }

// ClaimsOf are the claims for a store.
func ClaimsOf(store *results.Store) Claims { return Claims{store.Path() + ".checkpoints"} }

const lockSuffix, checkpointSuffix = ".lock", ".checkpoint"

// Claim is the right to make a run; nil means that another process has it.
type Claim struct {
	*files.Lock
	checkpoint string
}

// Try claims a run; nil where another process has it.
func (c Claims) Try(key string) (*Claim, error) {
	return c.take(key, func(path string) (*files.Lock, error) { return files.TryLock(path) })
}

// Await claims a run, and waits while another process has it.
func (c Claims) Await(ctx context.Context, key string) (*Claim, error) {
	return c.take(key, func(path string) (*files.Lock, error) { return files.AwaitLock(ctx, path) })
}

func (c Claims) take(key string, lock func(path string) (*files.Lock, error)) (*Claim, error) {
	for {
		if err := os.MkdirAll(c.dir, 0o777); err != nil {
			return nil, fmt.Errorf("cannot make the folder of checkpoints: %w", err)
		}
		l, err := lock(filepath.Join(c.dir, key+lockSuffix))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // another process has removed the empty folder
		case l == nil || err != nil:
			return nil, err
		}
		return &Claim{l, filepath.Join(c.dir, key+checkpointSuffix)}, nil
	}
}

// Training is the checkpoint of the claimed training. A state that another version left is replaced, since the run is
// to be one of this programme.
func (c *Claim) Training(every time.Duration) *train.Checkpoint {
	return &train.Checkpoint{Path: c.checkpoint, Every: every, Versions: results.Versions(), Replace: true}
}

// Recorded removes the checkpoint of a run once it is recorded.
func (c *Claim) Recorded() error {
	if err := os.Remove(c.checkpoint); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the run is recorded, but its checkpoint cannot be removed: %w", err)
	}
	return nil
}

// tidy removes checkpoints of recorded runs, which remain when a process is killed between recording and removing, and
// the folder if it is empty.
func (c Claims) tidy(records Records) error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil // there is no folder
	}
	for _, e := range entries {
		key, is := strings.CutSuffix(e.Name(), checkpointSuffix)
		if r := records[key]; !is || r == nil || r.Status == results.Failed {
			continue
		}
		own, err := c.Try(key)
		if err != nil {
			return err
		}
		if own != nil {
			err = own.Recorded()
			own.Release()
		}
		if err != nil {
			return err
		}
	}
	os.Remove(c.dir) // succeeds only if empty
	return nil
}
