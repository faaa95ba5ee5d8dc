package runs

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/train"
)

// Task says what one run does.
type Task struct {
	// Kind is one of [Kinds].
	Kind    string       `json:"kind"`
	Dataset string       `json:"dataset"`
	Config  train.Config `json:"config"`
	// Split is the number of the split that a training uses. Tasks of other kinds have [NoSplit] here.
	Split int `json:"split"`
	// Follow, if not nil, asks a training to record numbers about some states of the trained model. A state is the
	// features of all nodes after a number of layers.
	Follow *Follow `json:"follow,omitempty"`
}

// Follow selects states of a trained model. A state is the features of all nodes after a number of layers. The training
// then records numbers about the selected states ([Followed]).
type Follow struct {
	// Each entry of Layers selects the states after that many layers. For example, the entry 8 selects the state after
	// 8 forward layers and the state after 8 reverse layers. Entries above the model's depth are ignored.
	Layers []int `json:"layers"`
	// Boards are parts of a Minesweeper board. For each cell of these parts, the training records the predicted
	// probability of a mine.
	Boards []Part `json:"boards,omitempty"`
}

// Part is a square part of a Minesweeper board. Each cell of the board is a node of a graph, and the nodes are numbered
// row by row. Row is the number of the part's first row on the board, and Col is the number of its first column; both
// are counted from 0. The part has Side rows and Side columns. Width is the number of columns of the whole board.
type Part struct {
	Row   int `json:"row"`
	Col   int `json:"col"`
	Side  int `json:"side"`
	Width int `json:"width"`
}

// nodes returns the numbers of the nodes that are the cells of the part, row by row.
func (p Part) nodes() []int {
	var out []int
	for r := range p.Side {
		for c := range p.Side {
			out = append(out, (p.Row+r)*p.Width+p.Col+c)
		}
	}
	return out
}

// Training returns the task that trains a model on a split of a dataset. The configuration c has the name of the model
// and its settings.
func Training(dataset string, split int, c train.Config) Task {
	return Task{Kind: Train, Dataset: dataset, Config: c.Resolved(), Split: split}
}

// Whole returns a task that uses a whole graph instead of a split, such as a benchmark.
func Whole(kind, dataset string, c train.Config) Task {
	return Task{Kind: kind, Dataset: dataset, Config: c, Split: NoSplit}
}

// Key returns a hash of the task. Tasks that do the same have the same key. Only settings that the model has are part
// of the key. The engine is not part of the key, since it changes only the last digits of results (see
// docs/repeating.md).
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

// alone returns a copy of the task whose field Follow is nil.
func (t Task) alone() Task {
	t.Follow = nil
	return t
}

// taskOf returns the task of a record. A record does not contain the task's field Follow, which selects states of the
// trained model. If the results in the record describe states, taskOf fills in Follow such that it selects these
// states.
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

// String describes the task in a few words.
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
