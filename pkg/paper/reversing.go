package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// Reversing has the settings of the table that compares ways to use a layer: only forward layers, only reverse layers,
// and both. A further network has the settings of the one with both kinds of layers, but all of its layers are forward
// layers. Models are trained on the same splits for each way.
type Reversing struct {
	Datasets []string `json:"datasets"`
	// Splits are the splits that models are trained on. Tried is the number of splits, counted from the first, on which
	// settings are chosen. Settings are chosen separately for each way to use a layer.
	Splits []int `json:"splits"`
	Tried  int   `json:"tried"`
	// Rules give the candidates: the settings to choose from. Each way to use a layer also has rules of its own, for
	// example for the numbers of layers. If Rules and the rules of a way have values for the same setting, the values
	// from the rules of the way count.
	Rules []runs.Rule `json:"candidates"`
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
	Model string      `json:"model"`
	Rules []runs.Rule `json:"candidates"`
}

// These constants are the indices of the ways to use a layer. They are used for the list wayNames. The first three are
// also used for the field Ways in [Reversing]. The settings of the last one are not chosen, but made by [turned].
const (
	forwardOnly = iota
	reverseOnly
	bothWays
	allForward
)

var wayNames = [4]string{"forward only", "reverse only", "both", "as both, but all forward"}

// forwardWays are the ways without reverse layers. Each is compared with the way that has both kinds of layers.
var forwardWays = [2]int{forwardOnly, allForward}

// turned changes the settings of networks with forward and reverse layers: they get forward layers in place of the
// reverse layers. All else stays as it is, also the bound on the weights, which only reverse layers need. So two
// networks, before and after the change, show what the direction of layers changes. (The forward layers are one chain
// afterwards, where there were two. The head then reads the encoded features in place of the result of the reverse
// layers.)
func turned(settings ...train.Config) []train.Config {
	all := slices.Clone(settings)
	for i, c := range all {
		all[i].Forward, all[i].Reverse = c.Forward+c.Reverse, 0
	}
	return all
}

// candidates returns the candidates on a dataset for the way w. A way is one of the three ways to use a layer: only
// forward layers, only reverse layers, or both.
func (r Reversing) candidates(dataset string, w Way) ([]train.Config, error) {
	return runs.Candidates(append(r.Rules[:len(r.Rules):len(r.Rules)], w.Rules...), dataset, w.Model)
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
	t.Columns = append(t.Columns, report.Column{Name: "both − forward only", Unit: "%"},
		report.Column{Name: "both − all forward", Unit: "%"})
	for _, dataset := range p.Datasets {
		for _, b := range p.Blocks {
			if !about(b.Datasets, dataset) {
				continue
			}
			name := func(way int) string { return strings.Join([]string{dataset, b.Title, wayNames[way]}, " ") }
			row := report.Row{Group: dataset + ", " + unit(dataset), Label: b.Title}
			var found [4]runs.Found
			var candidates [len(b.Ways)][]train.Config
			for k, w := range b.Ways {
				var err error
				if candidates[k], err = p.candidates(dataset, w); err != nil {
					panic(err) // this cannot happen, since the profile was checked when it was read
				}
				found[k] = v.Choose(name(k), dataset, candidates[k], p.Splits, p.Tried)
			}
			both := found[bothWays]
			found[allForward].Why = both.Why
			if both.Config.Model != "" { // its settings are chosen
				found[allForward] = v.Choose(name(allForward), dataset, turned(both.Config), p.Splits, p.Tried)
			} else if both.Why == runs.NotYet {
				v.Expect(name(allForward), dataset, turned(candidates[bothWays]...), p.Splits)
			}
			for _, f := range found {
				row.Cells = append(row.Cells, way(f))
			}
			var gains [len(forwardWays)][]float64
			for i, k := range forwardWays {
				gains[i] = both.Gains(found[k])
				row.Cells = append(row.Cells, gain(both, found[k], "not run both ways on the same splits"))
			}
			t.Rows = append(t.Rows, row)
			if len(both.Bad) > 0 {
				d.note("%s, %s: no comparison, since the network with both kinds of layers diverged on %s.", dataset,
					b.Title, count(len(both.Bad), "split"))
			} else {
				d.says(dataset, b.Title, gains)
			}
		}
	}
	d.Tables = append(d.Tables, t)
	d.note("Settings are chosen separately for %q, %q and %q, by the validation metric on the first %s. %q has the "+
		"settings of %q, but only forward layers, as many as the other has in both directions. Differences are split by "+
		"split, and p is from a two-sided paired t-test. %s", wayNames[forwardOnly], wayNames[reverseOnly],
		wayNames[bothWays], count(p.Tried, "split"), wayNames[allForward], wayNames[bothWays], p.Note)
	return d
}

// way returns a table cell with the results f for one way to use a layer: only forward layers, only reverse layers, or
// both. The cell shows the mean test metric over splits, and the numbers of layers.
func way(f runs.Found) report.Cell {
	values := f.Values()
	if len(values) == 0 {
		return report.Missing(absence(f))
	}
	c := overSplits(values).Below(report.Text(fmt.Sprintf("(%s), %s", f.Config.Depth(), count(len(values), "split"))))
	if bad := slices.Concat(f.Bad, f.Failed); len(bad) > 0 {
		c = c.Below(report.Text(strings.Join(bad, "; ")))
	}
	return c
}

// says adds a note to the document, about one kind of layer on one dataset. The note says by how much a network with
// both kinds of layers differs from the two networks with forward layers only, and whether the differences are
// significant. The argument called differences has the differences on each split, for each way in [forwardWays]. If
// there are fewer splits than [leastPairs], says adds no note.
func (d *Document) says(dataset, title string, differences [len(forwardWays)][]float64) {
	var all []string
	for i, gains := range differences {
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
		beside := wayNames[forwardWays[i]]
		all = append(all, fmt.Sprintf("%+.2f points beside %q: %s (%s)", mean, beside, verdict, tested(gains)))
	}
	d.note("%s, %s: a network with both kinds of layers has %s.", dataset, title, strings.Join(all, "; "))
}
