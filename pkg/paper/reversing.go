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

// Reversing describes the table that compares a layer run forwards only, backwards only, and both ways, and the last
// with all of its layers forwards, on the same splits.
type Reversing struct {
	Datasets []string `json:"datasets"`
	// Settings are chosen on the first Tried of Splits, for each way separately.
	Splits []int `json:"splits"`
	Tried  int   `json:"tried"`
	// Rules give the settings to choose from, for all ways.
	Rules []runs.Rule `json:"candidates"`
	// Blocks are the kinds of layers, each a row for each dataset.
	Blocks []struct {
		Title string `json:"title"`
		// Datasets are those on which the layer is run; all if empty.
		Datasets []string `json:"datasets,omitempty"`
		Ways     [3]Way   `json:"ways"`
	} `json:"blocks"`
	Note string `json:"note"`
}

// Way is one of the ways to use a layer: the model, and rules that count before those of [Reversing].
type Way struct {
	Model string      `json:"model"`
	Rules []runs.Rule `json:"candidates"`
}

// The ways to use a layer. Settings of the last are not chosen, but made by [turned].
const (
	forwardOnly = iota
	reverseOnly
	bothWays
	allForward
)

var wayNames = [4]string{"forward only", "reverse only", "both", "as both, but all forward"}

// forwardWays have no reverse layers; each is compared with both ways.
var forwardWays = [2]int{forwardOnly, allForward}

// turned makes the reverse layers of networks forward layers. All else stays, also the bound that only reverse layers
// need, so that what differs is the direction. (Where there were two chains there is one; the head reads the encoded
// features in place of the reverse result.)
func turned(settings ...train.Config) []train.Config {
	all := slices.Clone(settings)
	for i, c := range all {
		all[i].Forward, all[i].Reverse = c.Forward+c.Reverse, 0
	}
	return all
}

func (r Reversing) candidates(dataset string, w Way) ([]train.Config, error) {
	all, err := runs.Candidates(slices.Concat(r.Rules, w.Rules), dataset, w.Model)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("no settings for %s on %s", w.Model, dataset)
	}
	return all, err
}

// about tells whether a dataset is in a list; an empty list stands for all.
func about(datasets []string, one string) bool {
	return len(datasets) == 0 || slices.Contains(datasets, one)
}

// reversing makes the table on what reverse layers add to forward layers.
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
					found[k].Why = "not run: " + err.Error()
					continue
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

// way shows the results of one way to use a layer.
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

// says adds a note on one kind of layer and dataset: how both ways differ from each of [forwardWays], and whether
// significantly. It needs [leastPairs] splits.
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
