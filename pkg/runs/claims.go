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

// Claims make sure that each run is made by only one of several processes that share a store. A process claims a run
// before it makes the run. A claim is a locked file in a folder beside the store; the file's name is the run's key. The
// folder also holds the checkpoints of trainings that are not recorded yet. The claims of a process end with the
// process, even if it crashes.
type Claims struct{ dir string }

// ClaimsOf returns the Claims of a store.
func ClaimsOf(store *Store) Claims { return Claims{store.Path() + ".checkpoints"} }

const lockSuffix, checkpointSuffix = ".lock", ".checkpoint"

// Claim is the right to make a run. A nil claim means that another process has this right.
type Claim struct {
	*files.Lock
	checkpoint string
}

// Try claims the run with the given key. It returns nil if another process has the claim.
func (c Claims) Try(key string) (*Claim, error) {
	return c.take(key, func(path string) (*files.Lock, error) { return files.TryLock(path) })
}

// Await claims the run with the given key, and waits as long as another process has the claim.
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

// Kept tells whether the folder has a checkpoint of the run with the given key. A training that continues from a
// checkpoint has less left to train than one that starts from the beginning.
func (c Claims) Kept(key string) bool {
	_, err := os.Stat(filepath.Join(c.dir, key+checkpointSuffix))
	return err == nil
}

// Training returns the checkpoint of the claimed training, to be given to [train.Fit]. The argument every is the least
// time between two saves. If another version of revgnn, of Go or of a library saved the checkpoint, the training starts
// from the beginning and replaces the checkpoint. The reason is that the record of a training names only one version of
// each.
func (c *Claim) Training(every time.Duration) *train.Checkpoint {
	return &train.Checkpoint{Path: c.checkpoint, Every: every, Versions: machine.Versions(), Replace: true}
}

// Recorded removes the checkpoint of a run. It must be called after the run is recorded.
func (c *Claim) Recorded() error {
	if err := os.Remove(c.checkpoint); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the run is recorded, but its checkpoint cannot be removed: %w", err)
	}
	return nil
}

// tidy removes the checkpoints that are no longer needed: those of recorded runs that did not fail. (A process that is
// killed just after it has recorded a run leaves the run's checkpoint behind.) Then tidy removes the folder of claims,
// if this folder is empty.
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
