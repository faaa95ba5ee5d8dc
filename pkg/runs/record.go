package runs

import (
	"cmp"
	"encoding/json"
	"time"
)

// These are the kinds of runs. Train is a training. Invert is an inversion: layers with random weights are run forwards
// and then backwards. Bench is a benchmark, which measures the time and the memory of training steps. Measure is a
// measurement of a graph, for example of its homophily.
const (
	Train   = "train"
	Invert  = "invert"
	Bench   = "bench"
	Measure = "measure"
	// Search is a training that is a part of a search for good settings (see package search). The search chooses the
	// settings of the training and its number of epochs.
	Search = "search"
)

// These are the statuses of runs. Diverged is the status of a training that ended because its loss was not finite, or
// because a GRAND model's equation could not be integrated. Interrupted is the status of a run that was stopped
// before its end. Failed is the status of a run that ended with an error. OK is the status of all other runs.
const (
	OK          = "ok"
	Diverged    = "diverged"
	Interrupted = "interrupted"
	Failed      = "failed"
)

// Kinds and Statuses list the constants above. Bad lists the statuses of runs whose results must not be averaged with
// others.
var (
	Kinds    = []string{Train, Invert, Bench, Measure, Search}
	Statuses = []string{OK, Diverged, Interrupted, Failed}
	Bad      = []string{Diverged, Interrupted, Failed}
)

// NoSplit is the value of [Record.Split] for a run on a whole graph, such as a benchmark.
const NoSplit = -1

// Record is the record of one run. [Begin] fills in the start time, the versions, the commit and the machine.
// [Store.Add] fills in the ID and the key. The caller fills in the rest.
type Record struct {
	// ID is different for each record. Sorting records by their IDs sorts them by the times at which the runs started.
	ID string `json:"id"`
	// Key is the same for runs that do the same. If it is empty, [Store.Add] computes it from [Record.Definition].
	// A caller can instead set a key that the function [Key] returns for another definition.
	Key string `json:"key"`
	// Kind is one of [Kinds].
	Kind string `json:"kind"`
	// Profile is the name of the profile or search that the run was made for, such as "quick"; it may be empty.
	Profile string `json:"profile"`
	// Dataset is the name of the dataset, as users type it on the command line. Checksum is the checksum of the
	// dataset's graph ([graphs.Graph.Checksum]).
	Dataset  string `json:"dataset"`
	Checksum string `json:"checksum"`
	Model    string `json:"model"`
	// Config is a JSON object with the settings of the run, such as a train.Config.
	Config json.RawMessage `json:"config,omitempty"`
	// Split is the number of the split, or [NoSplit].
	Split  int    `json:"split"`
	Seed   uint64 `json:"seed"`
	Engine string `json:"engine"`
	// Versions has the versions of Go, of revgnn, and of the modules that revgnn computes with, by name (see
	// [Versions]). Commit is the git commit of revgnn's source, with "-dirty" appended if files were changed; it may be
	// empty.
	Versions map[string]string `json:"versions,omitempty"`
	Commit   string            `json:"commit"`
	Machine  Machine           `json:"machine"`
	// Started is the time of the start in UTC. Seconds is the time that the run took. Both are exact to the
	// millisecond.
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	// Status is one of [Statuses]. Message says in a sentence what went wrong. It is empty if nothing went wrong.
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
	// Outcome is a JSON object with the results of the run, such as a train.Result.
	Outcome json.RawMessage `json:"outcome,omitempty"`
}

// FailedBefore tells whether the run failed, and started before time t. A process that began at time t makes such a run
// again. It does not make a run again that failed since then.
func (r *Record) FailedBefore(t time.Time) bool { return r.Status == Failed && r.Started.Before(t) }

// Machine describes where a run ran.
type Machine struct {
	// Platform is the operating system and the architecture, such as "linux/amd64".
	Platform string `json:"platform"`
	// CPU and GPU are the product names of the processor and of the GPU; empty if they are not known.
	CPU   string `json:"cpu"`
	GPU   string `json:"gpu,omitempty"`
	Cores int    `json:"cores"`
	// Family, Model and Features say which processor it is, and which instruction sets for arithmetic on vectors it
	// has, with spaces between them. Processors of one name may differ in them, and then in the last digits of results.
	// They are empty in records of earlier versions of revgnn.
	Family   string `json:"family,omitempty"`
	Model    string `json:"model,omitempty"`
	Features string `json:"features,omitempty"`
}

// NotRecorded stands for a value that a record of an earlier version of revgnn lacks.
const NotRecorded = "not recorded"

// Processor returns the values of the fields Family, Model and Features with their names, or [NotRecorded].
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
	// Status is a list of statuses, such as [Bad]. A record matches if its status is in the list. An empty list matches
	// any status.
	Status []string
}
