package results

import (
	"encoding/json"
	"time"
)

// The kinds of runs.
const (
	Train   = "train"
	Invert  = "invert"
	Bench   = "bench"
	Measure = "measure"
	// Search is a trial of a search of settings, trained up to one of its rungs (numbers of epochs).
	Search = "search"
)

// How runs end. The first three are statuses of package train; Failed is a run that ended in an error.
const (
	OK          = "ok"
	Diverged    = "diverged"
	Interrupted = "interrupted"
	Failed      = "failed"
)

// Kinds and Statuses list the constants above, and Bad the statuses of runs that must not count in a mean.
var (
	Kinds    = []string{Train, Invert, Bench, Measure, Search}
	Statuses = []string{OK, Diverged, Interrupted, Failed}
	Bad      = []string{Diverged, Interrupted, Failed}
)

// NoSplit is the split of runs on a whole graph.
const NoSplit = -1

// Record is one run. [Begin] fills in what is known about the programme and the machine, and [Store.Add] the ID and
// the key.
type Record struct {
	// ID is unique; IDs sort by the runs' starts.
	ID string `json:"id"`
	// Key is equal for runs that do the same: see [Record.Definition]. A caller may set another one, made by [Key].
	Key string `json:"key"`
	// Kind is one of [Kinds].
	Kind string `json:"kind"`
	// Profile is the purpose or set of settings that the run was part of, such as "quick"; may be empty.
	Profile string `json:"profile"`
	// Dataset as users type it, and the checksum of its content ([graphs.Graph.Checksum]).
	Dataset  string `json:"dataset"`
	Checksum string `json:"checksum"`
	Model    string `json:"model"`
	// Config is a JSON object, such as a train.Config.
	Config json.RawMessage `json:"config,omitempty"`
	// Split is the number of the split, or [NoSplit].
	Split  int    `json:"split"`
	Seed   uint64 `json:"seed"`
	Engine string `json:"engine"`
	// Versions of Go, revgnn and the modules that compute, by name; Commit of the checkout, with "-dirty" where
	// files were changed, or empty.
	Versions map[string]string `json:"versions,omitempty"`
	Commit   string            `json:"commit"`
	Machine  Machine           `json:"machine"`
	// Started in UTC, and the seconds that the run took; both to the millisecond.
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	// Status is one of [Statuses]; Message says in a sentence what went wrong, if anything did.
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
	// Outcome is a JSON object with the numbers, such as a train.Result.
	Outcome json.RawMessage `json:"outcome,omitempty"`
}

// Machine describes where a run ran.
type Machine struct {
	// Platform is the operating system and the architecture, such as "linux/amd64".
	Platform string `json:"platform"`
	// CPU and GPU are the models, empty where not known.
	CPU   string `json:"cpu"`
	GPU   string `json:"gpu,omitempty"`
	Cores int    `json:"cores"`
}

// Query selects the records that have all the given values. An empty field matches any value.
type Query struct {
	Kind, Profile, Dataset, Model, Key string
	// Status matches any of these statuses; [Bad] matches what went wrong.
	Status []string
}
