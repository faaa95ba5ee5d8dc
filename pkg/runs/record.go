package runs

import (
	"cmp"
	"encoding/json"
	"time"
)

// Kinds of runs. An inversion runs layers with random weights forwards and then backwards. A benchmark measures time
// and memory of training steps. A measurement is of a graph, for example its homophily.
const (
	Train   = "train"
	Invert  = "invert"
	Bench   = "bench"
	Measure = "measure"
	// Search is a trial of a search for settings (package search).
	Search = "search"
)

// Statuses of runs. A training diverges if its loss is not finite or a GRAND model's equation cannot be integrated.
const (
	OK          = "ok"
	Diverged    = "diverged"
	Interrupted = "interrupted"
	Failed      = "failed"
)

// The results of runs with a status in Bad must not be averaged with others.
var (
	Kinds    = []string{Train, Invert, Bench, Measure, Search}
	Statuses = []string{OK, Diverged, Interrupted, Failed}
	Bad      = []string{Diverged, Interrupted, Failed}
)

// NoSplit is the split of a run on a whole graph, such as a benchmark.
const NoSplit = -1

// Record is the record of one run.
type Record struct {
	// Sorted by ID, records are in the order of their starts.
	ID string `json:"id"`
	// Key is the same for runs that do the same: of [Record.Definition], or a [Key] of another definition.
	Key  string `json:"key"`
	Kind string `json:"kind"`
	// Profile is the name of the profile or the ID of the search that the run was made for; it may be empty.
	Profile string `json:"profile"`
	// Dataset is the name that users type, and Checksum that of its graph ([graphs.Graph.Checksum]).
	Dataset  string `json:"dataset"`
	Checksum string `json:"checksum"`
	Model    string `json:"model"`
	// Config has the settings of the run, such as a train.Config.
	Config json.RawMessage `json:"config,omitempty"`
	Split  int             `json:"split"`
	Seed   uint64          `json:"seed"`
	Engine string          `json:"engine"`
	// Versions are those of Go, of revgnn, and of the modules that it computes with. Commit may be empty, and ends in
	// "-dirty" if files were changed.
	Versions map[string]string `json:"versions,omitempty"`
	Commit   string            `json:"commit"`
	Machine  Machine           `json:"machine"`
	// Both times are exact to the millisecond.
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	// Message says in a sentence what went wrong.
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
	// Outcome has the results of the run, such as a train.Result.
	Outcome json.RawMessage `json:"outcome,omitempty"`
}

// FailedBefore tells whether the run failed, and started before t: a process that began at t makes it again, but not
// one that failed since.
func (r *Record) FailedBefore(t time.Time) bool { return r.Status == Failed && r.Started.Before(t) }

type Machine struct {
	// Platform is the operating system and the architecture, such as "linux/amd64".
	Platform string `json:"platform"`
	// Product names; empty if they are not known.
	CPU   string `json:"cpu"`
	GPU   string `json:"gpu,omitempty"`
	Cores int    `json:"cores"`
	// Which processor it is, and its instruction sets for vectors, with spaces between them. Processors of one name may
	// differ in them, and then in the last digits of results. Empty in records of early versions.
	Family   string `json:"family,omitempty"`
	Model    string `json:"model,omitempty"`
	Features string `json:"features,omitempty"`
}

// NotRecorded stands for a value that a record of an earlier version of revgnn lacks.
const NotRecorded = "not recorded"

// Processor returns Family, Model and Features with their names.
func (m Machine) Processor() [][2]string {
	return [][2]string{{"processor family", cmp.Or(m.Family, NotRecorded)},
		{"processor model", cmp.Or(m.Model, NotRecorded)}, {"processor features", cmp.Or(m.Features, NotRecorded)}}
}

// Same tells whether two machines are alike in everything that is recorded of both.
func (m Machine) Same(other Machine) bool {
	if m.Family == "" || other.Family == "" {
		m.Family, m.Model, m.Features = other.Family, other.Model, other.Features
	}
	return m == other
}

// Query selects the records that have all the given values. An empty field matches any value.
type Query struct {
	Kind, Profile, Dataset, Model, Key string
	Status                             []string
}
