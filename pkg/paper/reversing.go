package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/train"
)

// Reversing has the settings of the table that compares three ways to use a layer: only forward layers, only reverse
// layers, and both. For each way, models are trained on the same splits.
type Reversing struct {
	Datasets []string `json:"datasets"`
	// Splits are the splits that models are trained on. Tried is the number of splits, counted from the first, on which
	// settings are chosen. Settings are chosen separately for each way to use a layer.
	Splits []int `json:"splits"`
	Tried  int   `json:"tried"`
	// Rules give the candidates: the settings to choose from. Each way to use a layer also has rules of its own, for
	// example for the numbers of layers. If Rules and the rules of a way have values for the same setting, the values
	// from the rules of the way count.
	Rules []experiment.Rule `json:"candidates"`
	// Blocks has an entry for each kind of layer. An entry gives one row of the table for each dataset on which the
	// layer is run.
	Blocks []struct {
		Title string `json:"title"`
		// Datasets are the datasets on which the layer is run. An empty list stands for all datasets of the table.
		Datasets []string `json:"datasets,omitempty"`
		Ways     [3]Way   `json:"ways"`
	} `json:"blocks"`
	Note string `json:"note"`
}

// Way is one of the three ways to use a layer: only forward layers, only reverse layers, or both. Model is the name of
// the model that is trained. Rules give settings to choose from, such as numbers of layers.
type Way struct {
	Model string            `json:"model"`
	Rules []experiment.Rule `json:"candidates"`
}

// These constants are the indices of the three ways to use a layer: only forward layers, only reverse layers, or both.
// They are used for the list wayNames, and for the field Ways in [Reversing].
const (
	forwardOnly = iota
	reverseOnly
	bothWays
)

var wayNames = [3]string{"forward only", "reverse only", "both"}

// candidates returns the candidates on a dataset for the way w. A way is one of the three ways to use a layer: only
// forward layers, only reverse layers, or both.
func (r Reversing) candidates(dataset string, w Way) ([]train.Config, error) {
	return experiment.Candidates(append(r.Rules[:len(r.Rules):len(r.Rules)], w.Rules...), dataset, w.Model)
}

// check returns an error if a way to use a layer has no candidates on a dataset, or if the settings of a candidate are
// impossible. It also returns an error if a candidate has layers that do not fit its way. For example, a candidate for
// the way "forward only" must have forward layers, and no reverse layers.
func (r Reversing) check() error {
	for _, dataset := range r.Datasets {
		for _, b := range r.Blocks {
			if !about(b.Datasets, dataset) {
				continue
			}
			for k, w := range b.Ways {
				all, err := r.candidates(dataset, w)
				if err == nil && len(all) == 0 {
					err = fmt.Errorf("no settings for %s on %s", w.Model, dataset)
				}
				for _, c := range all {
					if forward, reverse := c.Forward > 0, c.Reverse > 0; err == nil &&
						(forward != (k != reverseOnly) || reverse != (k != forwardOnly)) {
						err = fmt.Errorf("%s on %s has %s layers, which is not %q",
							w.Model, dataset, c.Depth(), wayNames[k])
					}
				}
				if err != nil {
					return fmt.Errorf("%s: %w", b.Title, err)
				}
			}
		}
	}
	return nil
}

// about tells whether a dataset is in a list of datasets. An empty list stands for all datasets.
func about(datasets []string, one string) bool {
	return len(datasets) == 0 || slices.Contains(datasets, one)
}

// reversing makes the table that shows what reverse layers add to forward layers.
func reversing(v *View) *Document {
	d, p := &Document{}, v.Profile.Reversing
	t := &report.Table{ID: "reversing", Title: v.title("The same layer forwards, backwards and both ways"),
		Corner: "Layer"}
	for _, way := range wayNames {
		t.Columns = append(t.Columns, report.Column{Name: way, Unit: "%"})
	}
	t.Columns = append(t.Columns, report.Column{Name: "reverse − forward", Unit: "%"},
		report.Column{Name: "both − forward", Unit: "%"})
	for _, dataset := range p.Datasets {
		for _, b := range p.Blocks {
			if !about(b.Datasets, dataset) {
				continue
			}
			var found [3]experiment.Found
			row := report.Row{Group: dataset + ", " + unit(dataset), Label: b.Title}
			for k, w := range b.Ways {
				candidates, err := p.candidates(dataset, w)
				if err != nil {
					panic(err) // this cannot happen, since the profile was checked when it was read
				}
				found[k] = v.Choose(strings.Join([]string{dataset, b.Title, wayNames[k]}, " "), dataset, candidates,
					p.Splits, p.Tried)
				row.Cells = append(row.Cells, way(found[k]))
			}
			for _, k := range []int{reverseOnly, bothWays} {
				row.Cells = append(row.Cells, gain(found[k].Gains(found[forwardOnly])))
			}
			t.Rows = append(t.Rows, row)
			d.says(dataset, b.Title, found)
		}
	}
	d.Tables = append(d.Tables, t)
	d.note("Settings are chosen for every way by itself, on the validation metric of the first %s; differences are "+
		"split by split, and p is from a two-sided paired t-test. %s", count(p.Tried, "split"), p.Note)
	return d
}

// way returns a table cell with the results f for one way to use a layer: only forward layers, only reverse layers, or
// both. The cell shows the mean test metric over splits, and the numbers of layers.
func way(f experiment.Found) report.Cell {
	values := f.Values()
	if len(values) == 0 {
		return report.Missing(absence(f))
	}
	c := overSplits(values).Below(report.Text(fmt.Sprintf("(%s), %s", f.Config.Depth(), count(len(values), "split"))))
	if len(f.Bad) > 0 {
		c = c.Below(report.Text(strings.Join(f.Bad, "; ")))
	}
	return c
}

// gain returns a table cell with the mean of the given gains. Here a gain is the test metric of a model with reverse
// layers minus the test metric of a model with forward layers only, on the same split. Below the mean, the cell has the
// p-value of a paired t-test, if there are enough splits for this test.
func gain(gains []float64) report.Cell {
	if len(gains) == 0 {
		return report.Missing("not run both ways on the same splits")
	}
	return report.Difference(metrics.Mean(gains), 2).Below(report.Text(tested(gains)))
}

// says adds a note to the document, about one kind of layer on one dataset. The note says how much the test metric
// changes if a model has reverse layers beside its forward layers, and whether this change is significant. If there are
// fewer splits than [leastPairs], says adds no note.
func (d *Document) says(dataset, title string, found [3]experiment.Found) {
	gains := found[bothWays].Gains(found[forwardOnly])
	if len(gains) < leastPairs {
		return
	}
	mean, p := metrics.Mean(gains), pairedT(gains)
	verdict := "no difference that the splits can tell"
	if p < 0.05 {
		verdict = "a gain"
		if mean < 0 {
			verdict = "a loss"
		}
	}
	d.note("%s, %s: reverse layers beside forward layers make a difference of %+.2f points on average: %s (%s).",
		dataset, title, mean, verdict, tested(gains))
}
