package runs

import (
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
