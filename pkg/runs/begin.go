package runs

import (
	"encoding/json"
	"fmt"
	"runtime"
	"time"

	"github.com/revgnn/revgnn/pkg/machine"
)

// Begin returns the record of a run that starts now, on this machine, by this version of revgnn.
func Begin(kind string) Record {
	versions, commit := machine.Built()
	family, model, features := machine.Processor()
	return Record{Kind: kind, Split: NoSplit, Versions: versions, Commit: commit, Started: time.Now().UTC(),
		Machine: Machine{Platform: runtime.GOOS + "/" + runtime.GOARCH, CPU: machine.CPU(), GPU: machine.GPU(),
			Cores: runtime.NumCPU(), Family: family, Model: model, Features: features}}
}

// Start returns the record of a task that starts now: all but its key, its profile and its results. The checksum is
// that of the task's graph as the model sees it ([models.Seen]).
func Start(t Task, checksum, engine string) (r Record, err error) {
	r = Begin(t.Kind)
	r.Dataset, r.Checksum, r.Model, r.Engine = t.Dataset, checksum, t.Config.Model, engine
	r.Split, r.Seed = t.Split, t.seed()
	if r.Config, err = json.Marshal(t.Config); err != nil {
		err = fmt.Errorf("%s: its settings cannot be recorded: %w", t, err)
	}
	return r, err
}

// seed returns the seed of the run: another one for each split.
func (t Task) seed() uint64 {
	if t.Split != NoSplit && (t.Kind == Train || t.Kind == Search) {
		return t.Config.Seed + uint64(t.Split)
	}
	return t.Config.Seed
}
