package experiment

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/results"
	"github.com/revgnn/revgnn/pkg/train"
)

// Task says what one run does.
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

// Follow selects states of a trained model: numbers about these states are recorded ([Followed]).
type Follow struct {
	// Layers are numbers of layers. For example, 8 selects the state after 8 forward layers and the state after 8
	// reverse layers. Numbers above the model's depth are ignored.
	Layers []int `json:"layers"`
	// Boards are parts of a Minesweeper board. For the cells of these parts, the probabilities of a mine are recorded.
	Boards []Part `json:"boards,omitempty"`
}

// Part is a square part of a Minesweeper board. Each cell of the board is a node of a graph, and the nodes are numbered
// row by row. Row and Col are the place of the part's first cell on the board, counted from 0. Side is the number of
// rows and of columns of the part. Width is the number of columns of the whole board.
type Part struct {
	Row   int `json:"row"`
	Col   int `json:"col"`
	Side  int `json:"side"`
	Width int `json:"width"`
}

// nodes returns the numbers of the part's nodes, row by row.
func (p Part) nodes() []int {
	var out []int
	for r := range p.Side {
		for c := range p.Side {
			out = append(out, (p.Row+r)*p.Width+p.Col+c)
		}
	}
	return out
}

// Training returns the task of training a model on a split of a dataset. The configuration c names the model.
func Training(dataset string, split int, c train.Config) Task {
	return Task{Kind: results.Train, Dataset: dataset, Config: c.Resolved(), Split: split}
}

// Whole returns a task about a whole graph, not about one split.
func Whole(kind, dataset string, c train.Config) Task {
	return Task{Kind: kind, Dataset: dataset, Config: c, Split: results.NoSplit}
}

// Key returns a hash that is the same for tasks that do the same. Only settings that the model has are part of the key.
// The engine is not part of the key, since it changes only the last digits of results (see docs/repeating.md).
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

// alone returns the same task with an empty field Follow.
func (t Task) alone() Task {
	t.Follow = nil
	return t
}

// taskOf returns the task of a record. A record does not contain the task's field Follow. taskOf makes this field from
// the states that the record's outcome describes.
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
