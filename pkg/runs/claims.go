package runs

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
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/train"
)

// Claims are locked files in a folder beside the store, one for each run that a process is about to make; the file's
// name is the run's key. So of several processes that share a store, only one makes the run. The folder also holds the
// checkpoints of trainings. The system drops the locks of a process that crashes.
type Claims struct{ dir string }

func ClaimsOf(store *Store) Claims { return Claims{store.Path() + ".checkpoints"} }

const lockSuffix, checkpointSuffix = ".lock", ".checkpoint"

// Claim is the right to make a run. A nil claim means that another process has it.
type Claim struct {
	*files.Lock
	checkpoint string
}

// Try claims a run, or returns nil if another process has the claim.
func (c Claims) Try(key string) (*Claim, error) {
	return c.take(key, func(path string) (*files.Lock, error) { return files.TryLock(path) })
}

// Await claims a run, and waits as long as another process has the claim.
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

// Kept tells whether there is a checkpoint of the run.
func (c Claims) Kept(key string) bool {
	_, err := os.Stat(filepath.Join(c.dir, key+checkpointSuffix))
	return err == nil
}

// Training returns the checkpoint for [train.Fit]. One that another version of revgnn, of Go or of a library saved is
// not used, since the record of a training names only one version of each.
func (c *Claim) Training(every time.Duration) *train.Checkpoint {
	return &train.Checkpoint{Path: c.checkpoint, Every: every, Versions: machine.Versions(), Replace: true}
}

// Recorded removes the checkpoint of a run. Call it after the run is recorded.
func (c *Claim) Recorded() error {
	if err := os.Remove(c.checkpoint); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the run is recorded, but its checkpoint cannot be removed: %w", err)
	}
	return nil
}

// tidy removes the checkpoints of recorded runs, which a process killed just after recording leaves behind, and then
// the folder if it is empty.
func (c Claims) tidy(records Records) error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil // there is no folder
	}
	for _, e := range entries {
		key, is := strings.CutSuffix(e.Name(), checkpointSuffix)
		if r := records[key]; !is || r == nil || r.Status == Failed {
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
	os.Remove(c.dir) // fails if the folder is not empty
	return nil
}
