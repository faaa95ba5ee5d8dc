package paper

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/runs"
)

var renew = flag.Bool("renew", false, "write the tables of the pages anew (make scorecard)")

// TestTablesOfPages compares the tables that follow from the committed run records with those on the pages. With the
// flag -renew, it writes them into the pages instead. A table stands between two comments, which have its name.
func TestTablesOfPages(t *testing.T) {
	t.Parallel()
	v, searched := committed(t, Quick()), bySearch(t)
	card := judge(v)
	for _, c := range []struct{ page, table, want string }{
		{"README.md", "sum", sumTable(card)},
		{"docs/claims.md", "scorecard", card.Markdown()},
		{"docs/published.md", "counts", countsTable(card)},
		{"docs/published.md", "searches", searchesTable(t, searched)},
		{"docs/notes/2026-11-published.md", "elsewhere", elsewhereTable(searched)},
		{"docs/which-layer.md", "sage", sageTable(v)},
		{"docs/notes/2026-11-published.md", "distant", distantTable(v, card)},
	} {
		t.Run(c.table, func(t *testing.T) {
			path := filepath.Join("../..", c.page)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			begin, end := "<!-- "+c.table+": by `make scorecard` -->\n", "<!-- end of "+c.table+" -->\n"
			before, rest, found := strings.Cut(string(text), begin)
			has, after, closed := strings.Cut(rest, end)
			switch {
			case !found || !closed:
				t.Fatalf("%s has no %s…%s", c.page, begin, end)
			case has == c.want:
			case !*renew:
				t.Fatalf("the table %s of %s is not that of the committed records; run `make scorecard`. It has\n%s\nand "+
					"should have\n%s", c.table, c.page, has, c.want)
			default:
				if err := os.WriteFile(path, []byte(before+begin+c.want+end+after), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// committed returns a view of the records that come with revgnn, for a profile. The view also has the records in the
// given files.
func committed(t *testing.T, p Profile, files ...string) *View {
	t.Helper()
	store := imported(t, files...)
	if _, err := store.AddCommitted(); err != nil {
		t.Fatal(err)
	}
	v, err := (&runs.Runner{Scope: runs.Scope{Profile: p.Profile}, Store: store}).View()
	if err != nil {
		t.Fatal(err)
	}
	return &View{v, p}
}

// imported returns a store of the records in the given files.
func imported(t *testing.T, files ...string) *runs.Store {
	t.Helper()
	store, err := runs.Open(filepath.Join(t.TempDir(), "runs.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	for _, f := range files {
		if _, _, err := store.Import(f); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// markdown returns a table in Markdown, with the cells of each row separated by "|".
func markdown(header string, rows []string) string {
	text := "| " + header + " |\n|" + strings.Repeat("---|", strings.Count(header, "|")+1) + "\n"
	for _, r := range rows {
		text += "| " + r + " |\n"
	}
	return text
}

// sumTable counts the verdicts on all claims.
func sumTable(card *Scorecard) string {
	n := card.Counts
	return markdown(fmt.Sprintf("%d claims | %s | %s | %s | %s", len(card.Claims), Reproduced, Weaker, NotReproduced, NotRun),
		[]string{fmt.Sprintf("at the profile `%s` | %d | %d | %d | %d", card.Profile, n[Reproduced], n[Weaker],
			n[NotReproduced], n[NotRun])})
}

// countsTable returns a table that counts the cells of tables 2 and 6: those with a verdict, those of them in which our
// mean is at most two published standard deviations from the published mean, and those in which it is not further
// below.
func countsTable(card *Scorecard) string {
	type counts struct{ run, near, notBelow int }
	var rows []string
	line := func(title string, n counts) {
		share := func(k int) string { return fmt.Sprintf("%d (%.0f %%)", k, 100*float64(k)/float64(max(1, n.run))) }
		rows = append(rows, fmt.Sprintf("%s | %d | %s | %s", title, n.run, share(n.near), share(n.notBelow)))
	}
	var both counts
	for _, table := range []string{"table2", "table6"} {
		p, datasets, n := published[Performance](table), map[string]bool{}, counts{}
		for _, j := range card.Claims {
			if !strings.HasPrefix(j.ID, table+"/") || j.Degree == "" {
				continue
			}
			datasets[j.Dataset] = true
			n.run++
			if j.Degree == WithinOne || j.Degree == WithinTwo {
				n.near++
			}
			if j.Degree != Below {
				n.notBelow++
			}
		}
		line(fmt.Sprintf("table %d (%d of %d datasets)", p.Table, len(datasets), len(p.Columns)), n)
		both = counts{both.run + n.run, both.near + n.near, both.notBelow + n.notBelow}
	}
	line("both", both)
	return markdown(" | cells with runs | within two standard deviations | no more than two standard deviations below",
		rows)
}

// eachCell calls f for each cell of tables 2 and 6: with the table, the row, the index k of the column in the table,
// and the dataset of this column.
func eachCell(f func(p *Performance, row PerformanceRow, k int, dataset string)) {
	for _, table := range []string{"table2", "table6"} {
		p := published[Performance](table)
		for k, dataset := range p.Columns {
			for _, row := range p.Rows {
				f(p, row, k, dataset)
			}
		}
	}
}

// shortName returns the name of a dataset as tables of docs show it, such as "Squirrel" for "squirrel-filtered".
func shortName(dataset string) string {
	return strings.ToUpper(dataset[:1]) + strings.TrimSuffix(dataset[1:], "-filtered")
}

// distantTable has the cells of tables 2 and 6 in which our mean is more than two published standard deviations from
// the published mean.
func distantTable(v *View, card *Scorecard) string {
	var rows []string
	eachCell(func(p *Performance, row PerformanceRow, k int, dataset string) {
		id := fmt.Sprintf("table%d/%s/%s", p.Table, row.Model, dataset)
		distant := func(j Judgement) bool { return j.ID == id && (j.Degree == Below || j.Degree == Above) }
		if !slices.ContainsFunc(card.Claims, distant) {
			return
		}
		here, difference := "every training diverged", "–"
		if ours := v.cellOf(row, dataset).Values(); len(ours) > 0 {
			here, difference = spread(ours), signed(metrics.Mean(ours)-row.Cells[k].Mean)
		}
		rows = append(rows, fmt.Sprintf("%s | %s | %s | %s | %s", shortName(dataset), row.Model, theirs(row, k), here,
			difference))
	})
	return markdown("dataset | model | published | here | difference", rows)
}

// theirs returns the published mean and standard deviation in column k of a row, such as "93.05 ± 0.42".
func theirs(row PerformanceRow, k int) string {
	return fmt.Sprintf("%.2f ± %.2f", row.Cells[k].Mean, row.std(k))
}

// signed returns a number with its sign, as "+0.50" or "−0.50".
func signed(x float64) string { return strings.Replace(fmt.Sprintf("%+.2f", x), "-", "−", 1) }

// bySearch returns a view that has, of the profile's chosen settings, only those that a search has found, even if the
// profile has better ones from elsewhere. Its records also include those in data/searches of trainings whose results
// the profile does not show.
func bySearch(t *testing.T) *View {
	files, err := filepath.Glob("../../data/searches/*-tested.jsonl.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no records of tests in data/searches: %v", err)
	}
	quick := Quick()
	quick.Chosen = slices.DeleteFunc(slices.Clone(quick.Chosen), func(c runs.Choice) bool { return c.Search == "" })
	return committed(t, quick, files...)
}

// searchesTable has a row for each backbone of tables 2 and 6 and its model with reverse layers, if a search has chosen
// the settings of one of them.
func searchesTable(t *testing.T, v *View) string {
	trialsOf := trials(t, v.Profile.Chosen)
	var rows []string
	eachCell(func(p *Performance, row PerformanceRow, k int, dataset string) {
		plain := p.plain(row)
		if plain == nil {
			return
		}
		a, b := v.cellOf(*plain, dataset), v.cellOf(row, dataset)
		if a.Search == "" && b.Search == "" {
			return
		}
		gain := noGain
		if a.Search != "" && b.Search != "" {
			gain = gained(b, a)
		}
		x, y := outcomeOf(a), outcomeOf(b)
		rows = append(rows, fmt.Sprintf("%s | %s | %s | %s | %s | %s | %s | %s | %s/%s | %d/%d | %s, %s | %s/%s",
			shortName(dataset), plain.Model, theirs(*plain, k), theirs(row, k),
			signed(row.Cells[k].Mean-plain.Cells[k].Mean), x.tests, y.tests, gain, x.seeds, y.seeds, trialsOf[a.Search],
			trialsOf[b.Search], x.layers, y.layers, x.width, y.width))
	})
	return markdown("dataset | model | published | +ReP | difference | here | +ReP | difference | seeds | trials | layers | "+
		"width", rows)
}

// sageTable compares SAGE with and without reverse layers, which are not in the paper, on each dataset for which the
// profile has chosen settings of both.
func sageTable(v *View) string {
	var rows []string
	for _, dataset := range v.Profile.Datasets {
		if !v.Profile.HasChosen(dataset, "sage-res") || !v.Profile.HasChosen(dataset, "sage+rep") {
			continue
		}
		plain, reversed := v.Search(dataset, "sage-res"), v.Search(dataset, "sage+rep")
		a, b := outcomeOf(plain), outcomeOf(reversed)
		rows = append(rows, fmt.Sprintf("%s | %s | %s, %s | %s | %s/%s | %s, %s | %s", shortName(dataset), a.tests, a.layers,
			a.width, b.tests, a.seeds, b.seeds, b.layers, b.width, gained(reversed, plain)))
	}
	return markdown("dataset | forward layers | their number, width | forward and reverse layers | seeds | "+
		"their numbers, width | difference", rows)
}

// outcome has what the tables of pages show of the result of a model on a dataset.
type outcome struct{ tests, seeds, layers, width string }

func outcomeOf(f runs.Found) outcome {
	o := outcome{f.Why, "–", "–", "–"} // if nothing is trained yet
	if values := f.Values(); len(values) > 0 {
		o.tests = spread(values) + fewer(len(values), " (%s)")
	}
	if f.Missing > 0 {
		o.tests += fmt.Sprintf("; %d of %d splits not run yet", f.Missing, len(f.Splits))
	}
	if f.Config.Model == "" {
		return o
	}
	o.layers, o.width = f.Config.Depth(), fmt.Sprint(f.Config.Hidden)
	if strings.HasPrefix(f.Config.Model, "grand") {
		o.layers = "time " + o.layers
	}
	if f.SeedStd > 0 { // 0 stands for one seed
		o.seeds = fmt.Sprintf("%.2f", 100*f.SeedStd)
	}
	return o
}

// noGain stands where a result cannot be compared with that of the backbone.
const noGain = "the backbone has no such result"

// gained returns the mean difference between the results of f and those of its backbone, with the p of a paired test.
func gained(f, backbone runs.Found) string {
	gains := f.Gains(backbone)
	if len(gains) == 0 {
		return noGain
	}
	return fmt.Sprintf("%s%s (%s)", signed(metrics.Mean(gains)), fewer(len(gains), ", %s"), probability(gains))
}

// fewer returns a text about the number of splits, such as " (3 splits)" for the format " (%s)". The text is empty if
// there are as many splits as in the paper.
func fewer(splits int, format string) string {
	const all = 10
	if splits == all {
		return ""
	}
	return fmt.Sprintf(format, count(splits, "split"))
}

// trials returns the number of trials of each search that has chosen settings, by its records in data/searches.
func trials(t *testing.T, chosen []runs.Choice) map[string]int {
	t.Helper()
	var files []string
	for _, c := range chosen {
		files = append(files, fmt.Sprintf("../../data/searches/%s-%s.jsonl.gz", c.Dataset, c.Model))
	}
	all, err := imported(t, files...).Find(runs.Query{Kind: runs.Search})
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]map[int]bool{}
	for _, r := range all {
		var step struct{ Trial int }
		if err := json.Unmarshal(r.Outcome, &step); err != nil {
			t.Fatal(err)
		}
		if numbers[r.Profile] == nil {
			numbers[r.Profile] = map[int]bool{}
		}
		numbers[r.Profile][step.Trial] = true
	}
	counts := map[string]int{}
	for _, c := range chosen {
		if counts[c.Search] = len(numbers[c.Search]); counts[c.Search] == 0 {
			t.Errorf("%s on %s: no records of %s in data/searches", c.Model, c.Dataset, c.Search)
		}
	}
	return counts
}

// spread returns the mean and the sample standard deviation of the values as text, such as "93.05 ± 0.42".
func spread(values []float64) string {
	return fmt.Sprintf("%.2f ± %.2f", metrics.Mean(values), metrics.SampleStd(values))
}
