package train

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
)

// Metric is the measure that a training is after: on validation nodes, it picks the best epoch, stops early and leads
// searches. By default it is ROC-AUC for two classes, else accuracy (paper section 4.1.2).
func Metric(c Config, g *graphs.Graph) metrics.Measure {
	switch {
	case c.Metric != "" && c.Metric != "auto":
		return metrics.Named(strings.ReplaceAll(c.Metric, "-", "_"))
	case g.NumClasses == 2:
		return metrics.Named(data.ROCAUC)
	}
	return metrics.Named(data.Accuracy)
}

// Judges returns an error if the [Metric] is undefined on the validation or the test nodes of a split.
func Judges(c Config, g *graphs.Graph, split int) error {
	metric, s := Metric(c, g), g.Splits[split]
	for _, part := range []struct {
		name string
		mask []bool
	}{{"validation", s.Val}, {"test", s.Test}} {
		if none(part.mask) {
			continue
		}
		p, err := metrics.Select(make([]float32, g.NumNodes*g.NumClasses), g.NumClasses, g.Labels, part.mask)
		if err == nil {
			_, err = metric.Of(p, metrics.Even)
		}
		var why *metrics.UndefinedError
		switch {
		case errors.As(err, &why) && g.NumClasses == 2:
			err = fmt.Errorf("split %d of %s: its %s nodes are all of one class, for which %s is undefined: choose "+
				"other splits, or give your own", split, g.Name, part.name, metric.Title)
		case errors.As(err, &why):
			err = fmt.Errorf("split %d of %s: none of its %s nodes is of class %s, without which %s is undefined: "+
				"choose other splits or another metric, or give your own splits", split, g.Name, part.name,
				g.Classes()[why.Class], metric.Title)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Measures are all [metrics.Measures], by name, of the best epoch on validation and test nodes.
type Measures struct {
	Val  map[string]Number `json:"val"`
	Test map[string]Number `json:"test,omitempty"`
	// Thresholds are, for two classes, the probabilities above which a node is taken for class 1, by the measures that
	// are best with them on validation nodes ([metrics.Measure].Tuned).
	Thresholds map[string]float64 `json:"thresholds,omitempty"`
	// Undefined has a sentence for each value that is NaN, null in JSON.
	Undefined []string `json:"undefined,omitempty"`
}

// measuresOf judges logits, [nodes, outputs], by all measures.
func measuresOf(g *graphs.Graph, split graphs.Split, logits []float32, outputs int) (m Measures, err error) {
	val, err := metrics.Select(logits, outputs, g.Labels, split.Val)
	if err != nil {
		return m, err
	}
	if g.NumClasses == 2 {
		m.Thresholds = map[string]float64{}
		for _, measure := range metrics.Measures {
			if measure.Tuned {
				m.Thresholds[measure.Name] = measure.Threshold(val)
			}
		}
	}
	m.Val, m.Undefined = Scores(val, "validation", g.Classes(), m.Thresholds)
	if none(split.Test) {
		return m, nil
	}
	test, err := metrics.Select(logits, outputs, g.Labels, split.Test)
	if err != nil {
		return m, err
	}
	values, undefined := Scores(test, "test", g.Classes(), m.Thresholds)
	m.Test, m.Undefined = values, append(m.Undefined, undefined...)
	return m, nil
}

// Scores judges predictions by all measures. A measure that is undefined is NaN, with a sentence that calls the nodes
// what. A measure without a threshold decides at [metrics.Even].
func Scores(p *metrics.Predictions, what string, classes []string,
	thresholds map[string]float64) (values map[string]Number, undefined []string) {
	values = map[string]Number{}
	for _, m := range metrics.Measures {
		value, err := m.Of(p, m.At(thresholds))
		var why *metrics.UndefinedError
		if errors.As(err, &why) {
			value = math.NaN()
			undefined = append(undefined, fmt.Sprintf("%s on %s nodes is undefined: none is of class %s", m.Title, what,
				classes[why.Class]))
		}
		values[m.Name] = Number(value)
	}
	return values, undefined
}
