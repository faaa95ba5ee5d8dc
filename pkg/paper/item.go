package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/results"
)

// Item is a table or a figure of the paper.
type Item struct {
	Name, Title string
	build       func(v *View) *Document
}

// Document is what an item shows.
type Document struct {
	Name, Title string
	Tables      []*report.Table
	Figures     []*report.Figure
	// Notes say what the paper says, what was found, and how.
	Notes []string
	// Records are the runs that it shows.
	Records []*results.Record
}

// note adds a sentence.
func (d *Document) note(format string, args ...any) {
	d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
}

// title says the profile, so that no picture or table stands alone without it.
func (v *View) title(text string) string { return text + " (profile " + v.Profile.Name + ")" }

// Items lists the paper's tables and figures.
func Items() []Item {
	return []Item{
		{"table1", "Table 1: complexity", complexity},
		{"table2", "Table 2: heterophilic datasets", func(v *View) *Document { return performance(v, "table2") }},
		{"table3", "Table 3: homophilic datasets", func(v *View) *Document { return performance(v, "table3") }},
		{"table4", "Table 4: inversion error", inversionErrors},
		{"table5", "Table 5: statistics of the datasets", statistics},
		{"table6", "Table 6: all homophilic datasets", func(v *View) *Document { return performance(v, "table6") }},
		{"fig1", "Figure 1: representations over layers", representations},
		{"fig2", "Figure 2: performance over depth", depth},
		{"fig3", "Figure 3: over-smoothing", smoothness},
		{"fig4", "Figure 4: predictions on Minesweeper", predictions},
		{"fig5", "Figure 5: convergence of the fixed-point iteration", convergence},
		{"fig6", "Figure 6: run time", runTime},
	}
}

// Choose returns the items with the given names, in the paper's order; "all" stands for all.
func Choose(names []string) ([]Item, error) {
	items := Items()
	var known []string
	for _, it := range items {
		known = append(known, it.Name)
	}
	for _, name := range names {
		if name != "all" && !slices.Contains(known, name) {
			return nil, fmt.Errorf("%q is neither a table nor a figure of the paper: choose from %s, or all", name, strings.Join(known, ", "))
		}
	}
	if slices.Contains(names, "all") {
		return items, nil
	}
	return slices.DeleteFunc(items, func(it Item) bool { return !slices.Contains(names, it.Name) }), nil
}
