package trained

import (
	"fmt"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/train"
)

// Parts are the nodes that [Model.Evaluate] can judge a model on: those of a split, all that have a class, or each of
// these in turn.
var Parts = []string{"train", "val", "test", "labelled", "all"}

// Evaluation says how well a model tells the classes of nodes.
type Evaluation struct {
	// Part is one of [Parts], except "all". Split is that of the graph, or -1 for labelled nodes.
	Part  string `json:"part"`
	Split int    `json:"split"`
	// Nodes is their number, ByClass that of each class of the model, and Training that of nodes among them that the
	// model was trained on.
	Nodes    int   `json:"nodes"`
	ByClass  []int `json:"by_class"`
	Training int   `json:"training_nodes"`
	// Measures are by the names of [metrics.Measures], with the thresholds of the model. Undefined has a sentence for
	// each that is NaN.
	Measures  map[string]train.Number `json:"measures"`
	Undefined []string                `json:"undefined,omitempty"`
	// Confusion has the nodes for each true and each predicted class ([metrics.Predictions.Confusion]), at the
	// [About.Threshold], and CalibrationError is that of [metrics.Predictions.Calibration].
	Confusion        [][]int      `json:"confusion"`
	CalibrationError train.Number `json:"calibration_error"`
	// Notes are those of the [Prediction].
	Notes []string `json:"notes,omitempty"`
}

// Evaluate judges the model on a part of a graph whose nodes have classes, one of [Parts]. Classes are those of the
// model by name: a node of another class is an error, since the model cannot be right about it. An empty part stands
// for the test nodes if the model was trained on this graph, else for all labelled ones; a split below 0 for that of
// the training, or else for the first. The graph and the engine are as for [Model.Predict].
func (m *Model) Evaluate(e *engine.Engine, g *graphs.Graph, part string, split int) ([]Evaluation, error) {
	own := m.Config.InputGraph(g).Checksum() == m.Checksum && m.Split < len(g.Splits)
	if part == "" {
		if part = "labelled"; own {
			part = "test"
		}
	}
	if split < 0 {
		if split = 0; own {
			split = m.Split
		}
	}
	masks, err := masks(g, part, split)
	if err != nil {
		return nil, err
	}
	labels, err := m.labels(g, masks)
	if err != nil {
		return nil, err
	}
	p, err := m.Predict(e, g)
	if err != nil {
		return nil, err
	}
	var out []Evaluation
	for _, name := range Parts {
		mask, judged := masks[name]
		if !judged {
			continue
		}
		one, err := metrics.Select(p.Logits, p.Outputs, labels, mask)
		if err != nil {
			return nil, err
		}
		x := Evaluation{Part: name, Split: split, Nodes: len(one.Labels), ByClass: make([]int, len(m.Classes)),
			Confusion: one.Confusion(m.Threshold()), Notes: p.Notes}
		if name == "labelled" {
			x.Split = -1
		}
		for _, l := range one.Labels {
			x.ByClass[l]++
		}
		for i, in := range mask {
			if in && own && g.Splits[m.Split].Train[i] {
				x.Training++
			}
		}
		x.Measures, x.Undefined = train.Scores(one, name, m.Classes, m.Thresholds)
		_, calibration := one.Calibration()
		x.CalibrationError = train.Number(calibration)
		out = append(out, x)
	}
	return out, nil
}

// masks has the nodes of a part, by the names of parts; of "all", those that have nodes.
func masks(g *graphs.Graph, part string, split int) (map[string][]bool, error) {
	if !slices.Contains(Parts, part) {
		return nil, fmt.Errorf("there is no part %q of a graph: choose one of %s", part, strings.Join(Parts, ", "))
	}
	if g.Labelled() == 0 {
		return nil, fmt.Errorf("%s has no labels, which an evaluation needs: add them to it, or predict", g.Name)
	}
	all := map[string][]bool{"labelled": make([]bool, g.NumNodes)}
	for i, l := range g.Labels {
		all["labelled"][i] = l != graphs.Unlabelled
	}
	if part == "labelled" || part == "all" && len(g.Splits) == 0 {
		return all, nil
	}
	if split >= len(g.Splits) {
		return nil, fmt.Errorf("%s has no split %d: it has %d, numbered from 0", g.Name, split, len(g.Splits))
	}
	if err := g.Teaches(split); err != nil {
		return nil, err
	}
	s := g.Splits[split]
	for name, mask := range map[string][]bool{"train": s.Train, "val": s.Val, "test": s.Test} {
		if slices.Contains(mask, true) {
			all[name] = mask
		}
	}
	if part == "all" {
		return all, nil
	}
	if all[part] == nil {
		return nil, fmt.Errorf("split %d of %s has no nodes for the part %s: choose another part or split", split,
			g.Name, part)
	}
	return map[string][]bool{part: all[part]}, nil
}

// labels are those of the graph as the model numbers classes. A node in one of the masks whose class the model does not
// have is an error.
func (m *Model) labels(g *graphs.Graph, masks map[string][]bool) ([]int32, error) {
	as := make([]int32, g.NumClasses)
	for l, name := range g.Classes() {
		as[l] = int32(slices.Index(m.Classes, name))
	}
	labels := make([]int32, g.NumNodes)
	for i, l := range g.Labels {
		if labels[i] = graphs.Unlabelled; l != graphs.Unlabelled {
			labels[i] = as[l]
		}
		for _, mask := range masks {
			if mask[i] && labels[i] < 0 {
				return nil, fmt.Errorf("node %s of %s is of class %s, which %s does not know (its classes are %s): "+
					"leave out the labels of such nodes, or give classes the names of the training", g.ID(i), g.Name,
					g.Classes()[l], m.file, strings.Join(m.Classes, ", "))
			}
		}
	}
	return labels, nil
}
