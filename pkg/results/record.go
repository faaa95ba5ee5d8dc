package results

import (
	"encoding/json"
	"time"
)

// These are the kinds of runs: a training, an inversion (random layers, run forwards and then backwards), a benchmark
// (the time and memory of training steps), and a measurement of a dataset.
const (
	Train   = "train"
	Invert  = "invert"
	Bench   = "bench"
	Measure = "measure"
	// Search is a trial of a search for settings (see package search): a training with settings that the search has
	// drawn, for as many epochs as the search has set.
	Search = "search"
)

// These are the statuses of runs. Diverged is the status of a training whose loss was not finite any more. Interrupted
// is the status of a training that was stopped before its end. Failed is the status of a run that ended with an error.
// OK is the status of all other runs.
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
	// ID is unique. Sorting by ID sorts by the start of the runs.
	ID string `json:"id"`
	// Key is equal for runs that do the same. It is computed from [Record.Definition], unless the caller has set
	// another key by the function [Key].
	Key string `json:"key"`
	// Kind is one of [Kinds].
	Kind string `json:"kind"`
	// Profile is the name of the profile or search that the run was made for, such as "quick"; it may be empty.
	Profile string `json:"profile"`
	// Dataset is the name of the dataset, as users type it. Checksum is the checksum of its content
	// ([graphs.Graph.Checksum]).
	Dataset  string `json:"dataset"`
	Checksum string `json:"checksum"`
	Model    string `json:"model"`
	// Config is a JSON object, such as a train.Config.
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
	// Status is one of [Statuses]. Message says in a sentence what went wrong, if anything did.
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
	// Outcome is a JSON object with the results of the run, such as a train.Result.
	Outcome json.RawMessage `json:"outcome,omitempty"`
}

// Machine describes where a run ran.
type Machine struct {
	// Platform is the operating system and the architecture, such as "linux/amd64".
	Platform string `json:"platform"`
	// CPU and GPU are the product names of the processor and of the GPU; empty if they are not known.
	CPU   string `json:"cpu"`
	GPU   string `json:"gpu,omitempty"`
	Cores int    `json:"cores"`
}

// Query selects the records that have all the given values. An empty field matches any value.
type Query struct {
	Kind, Profile, Dataset, Model, Key string
	// Status lists statuses: a record matches if it has one of these. An empty list matches any status, and [Bad]
	// matches the runs that went wrong.
	Status []string
}
