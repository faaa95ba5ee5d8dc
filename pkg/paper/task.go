package paper

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/results"
	"github.com/revgnn/revgnn/pkg/train"
)

// Task is one run, small enough to be lost and large enough to be recorded.
type Task struct {
	// Kind is results.Train, Invert, Bench or Measure.
	Kind    string       `json:"kind"`
	Dataset string       `json:"dataset"`
	Config  train.Config `json:"config"`
	// Split is that of a training, else results.NoSplit.
	Split int `json:"split"`
	// Follow asks a training for its states layer by layer.
	Follow *Follow `json:"follow,omitempty"`
}

// Follow says what to keep of a trained model's states.
type Follow struct {
	// Layers are numbers of layers, in either direction, as far as the model goes.
	Layers []int `json:"layers"`
	// Boards are parts of a Minesweeper board whose cells' probabilities to keep.
	Boards []Part `json:"boards,omitempty"`
}

// Part is a square part of a board of Width columns.
type Part struct {
	Row   int `json:"row"`
	Col   int `json:"col"`
	Side  int `json:"side"`
	Width int `json:"width"`
}

// nodes of the part, row by row.
func (p Part) nodes() []int {
	var out []int
	for r := range p.Side {
		for c := range p.Side {
			out = append(out, (p.Row+r)*p.Width+p.Col+c)
		}
	}
	return out
}

// training is a task that fits a model to a split.
func training(dataset string, split int, c train.Config) Task {
	return Task{Kind: results.Train, Dataset: dataset, Config: c.Resolved(), Split: split}
}

// whole is a task about a whole graph.
func whole(kind, dataset string, c train.Config) Task {
	return Task{Kind: kind, Dataset: dataset, Config: c, Split: results.NoSplit}
}

// key is equal for tasks that would do the same. Settings at their zero value are left out, so that a setting that is added
// to the programme later, zero by default, leaves older records valid. The engine does not count: all give the same results.
func (t Task) key() string {
	key, err := results.Key(prune(plain(t)))
	if err != nil {
		panic(err) // a task is plain data
	}
	return key
}

// plain is v as JSON has it.
func plain(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain data
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		panic(err)
	}
	return out
}

// prune drops the zero values of objects.
func prune(v any) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	for name, value := range object {
		switch value := value.(type) {
		case nil:
			delete(object, name)
		case map[string]any:
			prune(value)
		case bool:
			if !value {
				delete(object, name)
			}
		case float64:
			if value == 0 && name != "split" {
				delete(object, name)
			}
		case string:
			if value == "" {
				delete(object, name)
			}
		}
	}
	return object
}

// String names the task for people.
func (t Task) String() string {
	switch t.Kind {
	case results.Train:
		return fmt.Sprintf("%s %s on %s, split %d", t.Config.Model, depths(t.Config), t.Dataset, t.Split)
	case results.Invert:
		return fmt.Sprintf("inversion of %s on %s", t.Config.Model, t.Dataset)
	case results.Bench:
		return fmt.Sprintf("timing of %s %s, d = %d, M = %d, on %s", t.Config.Model, depths(t.Config), t.Config.Hidden, t.Config.MaxIterations, t.Dataset)
	}
	return "statistics of " + t.Dataset
}

// depths are a model's L_F/L_R, or GRAND's T_F/T_R.
func depths(c train.Config) string {
	if strings.HasPrefix(c.Model, models.GRAND) {
		if c.HasReverse() {
			return fmt.Sprintf("%g/%g", c.Time, c.ReverseTime)
		}
		return fmt.Sprint(c.Time)
	}
	if c.HasReverse() {
		return fmt.Sprintf("%d/%d", c.Forward, c.Reverse)
	}
	return fmt.Sprint(c.Forward)
}
