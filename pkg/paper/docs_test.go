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

	"github.com/revgnn/revgnn/pkg/experiment"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/results"
)

var renew = flag.Bool("renew", false, "write the tables of the README and of docs/published.md anew (make scorecard)")

// TestTablesOfPages: some tables of the README and of docs/published.md follow from the committed run records. The test
// computes these tables, and compares them with those on the pages. With the flag -renew, it writes them into the pages
// instead. On a page, a table stands between two comments, which have the table's name.
func TestTablesOfPages(t *testing.T) {
	v := committed(t, Quick())
	card := judge(v)
	for _, c := range []struct{ page, table, want string }{
		{"README.md", "scorecard", card.Markdown()},
		{"docs/published.md", "counts", countsTable(card)},
		{"docs/published.md", "searches", searchesTable(t)},
		{"docs/published.md", "below", distantTable(v, card, Below)},
		{"docs/published.md", "above", distantTable(v, card, Above)},
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
	store, err := results.Open(filepath.Join(t.TempDir(), "runs.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := experiment.AddCommitted(store); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if _, _, err := store.Import(f); err != nil {
			t.Fatal(err)
		}
	}
	v, err := (&experiment.Runner{Scope: experiment.Scope{Profile: p.Profile}, Store: store}).View()
	if err != nil {
		t.Fatal(err)
	}
	return &View{v, p}
}

// markdown returns a table in Markdown, with the cells of each row separated by "|".
func markdown(header string, rows []string) string {
	text := "| " + header + " |\n|" + strings.Repeat("---|", strings.Count(header, "|")+1) + "\n"
	for _, r := range rows {
		text += "| " + r + " |\n"
	}
	return text
}

// countsTable counts the cells of tables 2 and 6 by their degree, such as [WithinTwo].
func countsTable(card *Scorecard) string {
	var rows []string
	var total [3]int
	line := func(title string, n [3]int) {
		share := func(k int) string { return fmt.Sprintf("%d (%.0f %%)", n[k], 100*float64(n[k])/float64(n[0])) }
		rows = append(rows, fmt.Sprintf("%s | %d | %s | %s", title, n[0], share(1), share(2)))
	}
	for _, number := range []string{"2", "6"} {
		datasets, n := map[string]bool{}, [3]int{}
		for _, j := range card.Claims {
			if !strings.HasPrefix(j.ID, "table"+number+"/") || j.Degree == "" {
				continue
			}
			datasets[j.Dataset] = true
			n[0]++
			if j.Degree == WithinOne || j.Degree == WithinTwo {
				n[1]++
			}
			if j.Degree != Below {
				n[2]++
			}
		}
		line(fmt.Sprintf("table %s (%s)", number, count(len(datasets), "dataset")), n)
		for k := range n {
			total[k] += n[k]
		}
	}
	line("both", total)
	return markdown(" | cells with runs | within two standard deviations | no more than two standard deviations below",
		rows)
}

// eachCell calls f for each cell of tables 2 and 6: with the table, the row, the number of the column, and the names of
// the row's model and the column's dataset.
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

// distantTable has the cells of tables 2 and 6 that have the given degree, [Below] or [Above].
func distantTable(v *View, card *Scorecard, degree string) string {
	var rows []string
	eachCell(func(p *Performance, row PerformanceRow, k int, dataset string) {
		id := fmt.Sprintf("table%d/%s/%s", p.Table, row.Model, dataset)
		at := slices.IndexFunc(card.Claims, func(j Judgement) bool { return j.ID == id })
		if card.Claims[at].Degree != degree {
			return
		}
		theirs, ours := row.Cells[k], v.cellOf(row, dataset).Values()
		rows = append(rows, fmt.Sprintf("%s | %s | %.2f ± %.2f | %s | %s", shortName(dataset), row.Model, theirs.Mean,
			theirs.Std, spread(ours), signed(metrics.Mean(ours)-theirs.Mean)))
	})
	return markdown("dataset | model | published | here | difference", rows)
}

// signed returns a number with its sign, as "+0.50" or "−0.50".
func signed(x float64) string { return strings.Replace(fmt.Sprintf("%+.2f", x), "-", "−", 1) }

// searchesTable has the cells of tables 2 and 6 for which a search has chosen the settings. Its results are those of the
// settings of the search, even if the profile has better settings from elsewhere. So it also needs the records in
// data/searches of trainings with the settings of searches.
func searchesTable(t *testing.T) string {
	files, err := filepath.Glob("../../data/searches/*-tested.jsonl.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no records of tests in data/searches: %v", err)
	}
	p := Quick()
	p.Chosen = slices.DeleteFunc(slices.Clone(p.Chosen), func(c experiment.Choice) bool { return c.Search == "" })
	v := committed(t, p, files...)
	var rows []string
	eachCell(func(p *Performance, row PerformanceRow, k int, dataset string) {
		f := v.cellOf(row, dataset)
		if f.Search == "" || f.Why != "" {
			return
		}
		if f.Missing > 0 {
			t.Errorf("%s on %s: %d of %d splits have no records", row.Model, dataset, f.Missing, len(f.Splits))
		}
		here := spread(f.Values())
		if n := len(f.Values()); n < 10 {
			here += fmt.Sprintf(" (%s)", count(n, "split"))
		}
		theirs, gain := row.Cells[k], ""
		if plain := p.plain(row); plain != nil {
			gains := f.Gains(v.cellOf(*plain, dataset))
			published := theirs.Mean - plain.Cells[k].Mean
			gain = fmt.Sprintf("%s (%s); published %s", signed(metrics.Mean(gains)), probability(gains), signed(published))
			if n := len(gains); n < 10 {
				gain = strings.Replace(gain, " (", fmt.Sprintf(", %s (", count(n, "split")), 1)
			}
		}
		layers := f.Config.Depth()
		if k, err := models.Lookup(row.Model); err == nil && strings.HasPrefix(k.Name, "grand") {
			layers = "time " + layers
		}
		rows = append(rows, fmt.Sprintf("%s | %s | %.2f ± %.2f | %s | %.2f | %d | %s | %d | %s", shortName(dataset),
			row.Model, theirs.Mean, theirs.Std, here, 100*f.SeedStd, trials(t, f.Search, dataset, row.Model), layers,
			f.Config.Hidden, gain))
	})
	return markdown("dataset | model | published | here | seeds | trials | layers | width | "+
		"with reverse layers − without", rows)
}

// trials returns the number of trials of a search, by its records.
func trials(t *testing.T, search, dataset, model string) int {
	t.Helper()
	store, err := results.Open(filepath.Join(t.TempDir(), "search.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, _, err := store.Import("../../data/searches/" + dataset + "-" + model + ".jsonl.gz"); err != nil {
		t.Fatal(err)
	}
	all, err := store.Find(results.Query{Profile: search})
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[int]bool{}
	for _, r := range all {
		var step struct{ Trial int }
		if err := json.Unmarshal(r.Outcome, &step); err != nil {
			t.Fatal(err)
		}
		numbers[step.Trial] = true
	}
	return len(numbers)
}
