package runs

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/train"
)

// Task says what one run does.
type Task struct {
	Kind    string       `json:"kind"`
	Dataset string       `json:"dataset"`
	Config  train.Config `json:"config"`
	// Split is [NoSplit] except for trainings.
	Split int `json:"split"`
	// Follow asks a training for numbers about states of the trained model: the features of all nodes after a number of
	// layers.
	Follow *Follow `json:"follow,omitempty"`
}

// Follow selects states of a trained model; see [Followed].
type Follow struct {
	// The entry 8 selects the states after 8 forward layers and after 8 reverse layers. Entries above the depth are
	// ignored.
	Layers []int `json:"layers"`
	// Boards are parts of a Minesweeper board, for whose cells the probabilities of mines are recorded.
	Boards []Part `json:"boards,omitempty"`
}

// Part is a square of Side rows and columns of a Minesweeper board with Width columns, whose cells are nodes, numbered
// row by row. Row and Col are those of its first cell, counted from 0.
type Part struct {
	Row   int `json:"row"`
	Col   int `json:"col"`
	Side  int `json:"side"`
	Width int `json:"width"`
}

func (p Part) nodes() []int {
	var out []int
	for r := range p.Side {
		for c := range p.Side {
			out = append(out, (p.Row+r)*p.Width+p.Col+c)
		}
	}
	return out
}

// Training returns the task that trains a model on a split of a dataset.
func Training(dataset string, split int, c train.Config) Task {
	return Task{Kind: Train, Dataset: dataset, Config: c.Resolved(), Split: split}
}

// Whole returns a task that uses a whole graph instead of a split, such as a benchmark.
func Whole(kind, dataset string, c train.Config) Task {
	return Task{Kind: kind, Dataset: dataset, Config: c, Split: NoSplit}
}

// Key is equal for tasks that do the same: only settings that the model has are part of it. The engine is not, since it
// changes only the last digits of results (docs/repeating.md).
func (t Task) Key() string {
	definition := map[string]any{"kind": t.Kind, "dataset": t.Dataset, "split": t.Split}
	if t.Config.Model != "" {
		definition["config"] = t.Config.Resolved().Values()
	}
	if t.Follow != nil {
		definition["follow"] = Follow{train.Within(t.Follow.Layers, max(t.Config.Forward, t.Config.Reverse)),
			t.Follow.Boards}
	}
	key, err := Key(definition)
	if err != nil {
		panic(err) // a task is plain data, which can always be written as JSON
	}
	return key
}

func (t Task) alone() Task {
	t.Follow = nil
	return t
}

// taskOf returns the task of a record. Its Follow is that of the states in the outcome.
func taskOf(r *Record) (t Task, err error) {
	t = Task{Kind: r.Kind, Dataset: r.Dataset, Split: r.Split}
	if len(r.Config) > 0 {
		if err := json.Unmarshal(r.Config, &t.Config); err != nil {
			return t, fmt.Errorf("the settings of run %s can't be read: %w", r.ID, err)
		}
	}
	if r.Kind != Train || len(r.Outcome) == 0 {
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

func (t Task) String() string {
	switch t.Kind {
	case Train:
		return fmt.Sprintf("%s %s on %s, split %d", t.Config.Model, t.Config.Depth(), t.Dataset, t.Split)
	case Invert:
		return fmt.Sprintf("inversion of %s on %s", t.Config.Model, t.Dataset)
	case Bench:
		sizes := ""
		if t.Config.MaxIterations > 0 {
			sizes = fmt.Sprintf(", M = %d", t.Config.MaxIterations)
		}
		return fmt.Sprintf("timing of %s %s, d = %d%s, on %s", t.Config.Model, t.Config.Depth(), t.Config.Hidden,
			sizes, t.Dataset)
	}
	return "statistics of " + t.Dataset
}
