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

// Claims are of runs that are to be recorded in a store, so that processes that share it make each run once. They are
// locks in a folder beside the store, by the keys of the runs, with the checkpoints of trainings that are not recorded
// yet. A process that ends has no claims, however it ends.
type Claims struct{ dir string }

// ClaimsOf are the claims of runs that are to be recorded in a store.
func ClaimsOf(store *results.Store) Claims { return Claims{store.Path() + ".checkpoints"} }

const lockSuffix, checkpointSuffix = ".lock", ".checkpoint"

// Claim is the right to make a run; nil stands for that of another process.
type Claim struct {
	*files.Lock
	checkpoint string
}

// Try claims a run; nil where another process has it.
func (c Claims) Try(key string) (*Claim, error) {
	return c.take(key, func(path string) (*files.Lock, error) { return files.TryLock(path) })
}

// Await claims a run as soon as no other process has it.
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

// Training is where the training that is claimed keeps its state. The state of another version is of no use: what is
// wanted is a run by this programme.
func (c *Claim) Training(every time.Duration) *train.Checkpoint {
	return &train.Checkpoint{Path: c.checkpoint, Every: every, Versions: results.Versions(), Replace: true}
}

// Recorded removes the checkpoint of a run that needs none any more.
func (c *Claim) Recorded() error {
	if err := os.Remove(c.checkpoint); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the run is recorded, but its checkpoint cannot be removed: %w", err)
	}
	return nil
}

// tidy removes checkpoints of recorded runs, whose processes were killed between the two, and the folder if nothing is
// left in it.
func (c Claims) tidy(records Records) error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil // there is none
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
	os.Remove(c.dir) // where it is empty
	return nil
}
