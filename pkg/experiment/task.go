package experiment

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/results"
	"github.com/revgnn/revgnn/pkg/train"
)

// Task is what one run does. A task is small enough to be repeated if it is interrupted, and large enough to be
// recorded.
type Task struct {
	// Kind is one of [results.Kinds].
	Kind    string       `json:"kind"`
	Dataset string       `json:"dataset"`
	Config  train.Config `json:"config"`
	// Split is the split of a training; results.NoSplit for other kinds.
	Split int `json:"split"`
	// Follow, if set, asks a training to record numbers about the states of the trained model, which are the features
	// of all nodes after some of its layers.
	Follow *Follow `json:"follow,omitempty"`
}

// Follow says about which of a trained model's states numbers are recorded.
type Follow struct {
	// Layers says after how many layers: 8, for example, stands for the state after 8 forward layers and for the state
	// after 8 reverse layers. Numbers above the model's depth are left out.
	Layers []int `json:"layers"`
	// Boards are parts of a Minesweeper board. For the cells of these parts, the probabilities of a mine are recorded.
	Boards []Part `json:"boards,omitempty"`
}

// Part is a square part of a Minesweeper board. The board's cells, row by row, are the nodes of a graph; Width is the
// number of the board's columns. Row and Col are the place of the part's first cell, and Side is the number of the
// part's rows, and of its columns.
type Part struct {
	Row   int `json:"row"`
	Col   int `json:"col"`
	Side  int `json:"side"`
	Width int `json:"width"`
}

// nodes returns the nodes of the part, row by row.
func (p Part) nodes() []int {
	var out []int
	for r := range p.Side {
		for c := range p.Side {
			out = append(out, (p.Row+r)*p.Width+p.Col+c)
		}
	}
	return out
}

// Training returns the task that fits a model to a split.
func Training(dataset string, split int, c train.Config) Task {
	return Task{Kind: results.Train, Dataset: dataset, Config: c.Resolved(), Split: split}
}

// Whole returns a task about a whole graph, not about one split.
func Whole(kind, dataset string, c train.Config) Task {
	return Task{Kind: kind, Dataset: dataset, Config: c, Split: results.NoSplit}
}

// Key returns a text that is the same for tasks that do the same. The key is computed only from settings that the model
// has, so that records of versions of revgnn with other settings are found, too. The key does not depend on the engine,
// which changes only the last digits of results (see docs/repeating.md).
func (t Task) Key() string {
	definition := map[string]any{"kind": t.Kind, "dataset": t.Dataset, "split": t.Split}
	if t.Config.Model != "" {
		definition["config"] = t.Config.Resolved().Values()
	}
	if t.Follow != nil {
		definition["follow"] = Follow{train.Within(t.Follow.Layers, max(t.Config.Forward, t.Config.Reverse)),
			t.Follow.Boards}
	}
	key, err := results.Key(definition)
	if err != nil {
		panic(err) // a task is plain data, which can always be written as JSON
	}
	return key
}

// alone returns the task without Follow.
func (t Task) alone() Task {
	t.Follow = nil
	return t
}

// taskOf returns the task of a record. A record does not keep Follow, which is therefore derived from the states that
// the outcome has.
func taskOf(r *results.Record) (t Task, err error) {
	t = Task{Kind: r.Kind, Dataset: r.Dataset, Split: r.Split}
	if len(r.Config) > 0 {
		if err := json.Unmarshal(r.Config, &t.Config); err != nil {
			return t, fmt.Errorf("the settings of run %s can't be read: %w", r.ID, err)
		}
	}
	if r.Kind != results.Train || len(r.Outcome) == 0 {
		return t, nil
	}
	var o struct{ Followed *Followed }
	if err := json.Unmarshal(r.Outcome, &o); err != nil {
		return t, fmt.Errorf("the outcome of run %s can't be read: %w", r.ID, err)
	}
	if f := o.Followed; f != nil {
		t.Follow = &Follow{}
		for _, l := range slices.Concat(f.Forward, f.Reverse) {
			t.Follow.Layers = append(t.Follow.Layers, l.Layer)
		}
		for _, b := range f.Boards {
			t.Follow.Boards = append(t.Follow.Boards, b.Part)
		}
	}
	return t, nil
}

// String describes the task in a few words.
func (t Task) String() string {
	switch t.Kind {
	case results.Train:
		return fmt.Sprintf("%s %s on %s, split %d", t.Config.Model, t.Config.Depth(), t.Dataset, t.Split)
	case results.Invert:
		return fmt.Sprintf("inversion of %s on %s", t.Config.Model, t.Dataset)
	case results.Bench:
		sizes := ""
		if t.Config.MaxIterations > 0 {
			sizes = fmt.Sprintf(", M = %d", t.Config.MaxIterations)
		}
		return fmt.Sprintf("timing of %s %s, d = %d%s, on %s", t.Config.Model, t.Config.Depth(), t.Config.Hidden,
			sizes, t.Dataset)
	}
	return "statistics of " + t.Dataset
}
