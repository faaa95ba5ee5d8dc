package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/report/echarts"
	"github.com/revgnn/revgnn/pkg/runs"
)

// Item is a table or figure of the paper, or a table on a question that the paper leaves open.
type Item struct {
	Name, Title string
	build       func(v *View) *Document
	draws       bool // whether the document has figures; only these need ECharts
}

// Document is what the page of an [Item] shows.
type Document struct {
	Name, Title string
	Tables      []*report.Table
	Figures     []*report.Figure
	// Verdicts are sentences: a claim of the paper, our verdict, and the numbers behind it. Claims about single cells
	// of a table are only counted, since the table shows them.
	Verdicts []string
	// Notes say what the paper states, what our runs show, and how our numbers were computed.
	Notes   []string
	Records []*runs.Record
}

func (d *Document) note(format string, args ...any) {
	d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
}

// Items lists the paper's tables and figures, and then the items on questions that the paper leaves open.
func Items() []Item {
	return []Item{
		item("table1", "Table 1: complexity", complexity),
		item("table2", "Table 2: heterophilic datasets", func(v *View) *Document { return performance(v, "table2") }),
		item("table3", "Table 3: homophilic datasets", func(v *View) *Document { return performance(v, "table3") }),
		item("table4", "Table 4: inversion error", inversionErrors),
		item("table5", "Table 5: statistics of the datasets", statistics),
		item("table6", "Table 6: all homophilic datasets", func(v *View) *Document { return performance(v, "table6") }),
		figure(1, representations),
		figure(2, depth),
		figure(3, smoothness),
		figure(4, predictions),
		figure(5, convergence),
		figure(6, runTime),
		item("reversing", "What running a layer backwards adds to it", reversing),
	}
}

// item returns an [Item] whose document has tables, but no figures. The function build makes this document.
func item(name, title string, build func(v *View) *Document) Item {
	return Item{Name: name, Title: title, build: build}
}

// drawing returns an [Item] whose document has figures. The function build makes this document.
func drawing(name, title string, build func(v *View) *Document) Item {
	return Item{Name: name, Title: title, build: build, draws: true}
}

// figure returns the [Item] for figure n of the paper. Its first note is what the paper says about the figure; the
// function build makes the rest of its document.
func figure(n int, build func(v *View) *Document) Item {
	s := statement(n)
	return drawing(fmt.Sprintf("fig%d", n), fmt.Sprintf("Figure %d: %s", n, s.Short), func(v *View) *Document {
		d := build(v)
		d.Notes = append([]string{"The paper: " + s.Says}, d.Notes...)
		return d
	})
}

// CanDraw returns an error if an item has figures, but ECharts, which draws them, is not installed.
func CanDraw(items []Item) error {
	if !slices.ContainsFunc(items, func(it Item) bool { return it.draws }) {
		return nil
	}
	return echarts.CanDraw()
}

// Choose returns the items with the given names, in the order of [Items]; "all" stands for all.
func Choose(names []string) ([]Item, error) {
	items := Items()
	var known []string
	for _, it := range items {
		known = append(known, it.Name)
	}
	for _, name := range names {
		if name != "all" && !slices.Contains(known, name) {
			return nil, fmt.Errorf("%q is neither a table nor a figure of the paper: choose from %s, or all",
				name, strings.Join(known, ", "))
		}
	}
	if slices.Contains(names, "all") {
		return items, nil
	}
	return slices.DeleteFunc(items, func(it Item) bool { return !slices.Contains(names, it.Name) }), nil
}

// build makes the documents from recorded runs.
func build(v *View, items []Item) []*Document {
	var all []*Document
	for _, it := range items {
		var d *Document
		records := v.Used(func() { d = it.build(v) })
		d.Name, d.Title, d.Records = it.Name, it.Title, records
		all = append(all, d)
	}
	return all
}

// Work returns a function that asks for the outcomes of all runs that the items need: a [runs.Runner] learns from it
// what to run.
func Work(p Profile, items []Item) runs.Work {
	return func(v *runs.View) { build(&View{v, p}, items) }
}

// Documents makes the items' documents, and the scorecard, from recorded runs. It makes no runs.
func Documents(r *runs.Runner, p Profile, items []Item) ([]*Document, *Scorecard, error) {
	v, err := r.View()
	if err != nil {
		return nil, nil, err
	}
	view := &View{v, p}
	documents, card := build(view, items), judge(view)
	for _, d := range documents {
		d.Verdicts = card.on(d.Name)
	}
	return documents, card, nil
}

// View has what the functions of items need: the outcomes of recorded runs, and the profile.
type View struct {
	*runs.View
	Profile Profile
}

// title adds the profile, so that readers always see it.
func (v *View) title(text string) string { return text + " (profile " + v.Profile.Name + ")" }

// titleOf is the name of a model in tables, such as "GCN+ReP" for "gcn+rep".
func titleOf(model string) string {
	if k, err := models.Lookup(model); err == nil {
		return k.Title
	}
	return model
}
