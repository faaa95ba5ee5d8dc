package paper

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestPublishedTables(t *testing.T) {
	for _, c := range []struct {
		name          string
		rows, columns int
		deltas        int // the number of rows that have gains
		depths        int // the number of rows that have numbers of layers
	}{{"table2", 22, 7, 3, 2}, {"table3", 13, 3, 3, 2}, {"table6", 13, 5, 3, 2}} {
		p := published[Performance](c.name)
		deltas, depths := 0, 0
		for _, r := range p.Rows {
			if len(r.Cells) != c.columns || r.Delta != nil && len(r.Delta) != c.columns || r.Layers != nil &&
				len(r.Layers) != c.columns {
				t.Errorf("%s, %s: %d cells, %d differences, %d depths for %d datasets", c.name, r.Name, len(r.Cells),
					len(r.Delta), len(r.Layers), c.columns)
			}
			if r.Delta != nil {
				deltas++
			}
			if r.Layers != nil {
				depths++
			}
		}
		if len(p.Rows) != c.rows || len(p.Columns) != c.columns || deltas != c.deltas || depths != c.depths {
			t.Errorf("%s has %d rows, %d columns, %d rows of differences, %d of depths; want %+v",
				c.name, len(p.Rows), len(p.Columns), deltas, depths, c)
		}
	}
	if n := len(published[InversionErrors]("table4").Rows); n != 4 {
		t.Errorf("table 4 has %d rows", n)
	}
	if n := len(published[DatasetStatistics]("table5").Rows); n != 12 {
		t.Errorf("table 5 has %d rows", n)
	}
	if p := published[Complexities]("table1"); len(p.Rows) != 4 ||
		len(p.Exponents) != len(Quick().Complexity.Quantities) {
		t.Errorf("table 1 has %d rows and %d exponents", len(p.Rows), len(p.Exponents))
	}
	for i := 1; i <= 6; i++ {
		if c := statement(i); c.Figure != i || c.Says == "" {
			t.Errorf("figure %d: %+v", i, c)
		}
	}
}

func TestPublishedSpotValues(t *testing.T) {
	for _, c := range []struct {
		table, model, dataset string
		mean, std             float64
	}{
		{"table2", "gcn+rep", "minesweeper", 96.05, 0.19}, {"table2", "dir-gnn", "roman-empire", 91.23, 0.32},
		{"table2", "sage", "questions", 76.44, 0.62},
		{"table2", "acm-gcn", "questions", 62.50, 4.05}, {"table6", "gat", "computers", 92.15, 0.30},
		{"table6", "mlp", "photo", 84.72, 0.34}, {"table3", "grand+rep", "citeseer", 75.78, 1.48},
	} {
		p := published[Performance](c.table)
		if cell := p.row(c.model).Cells[slices.Index(p.Columns, c.dataset)]; cell.Mean != c.mean || cell.Std != c.std {
			t.Errorf("%s, %s, %s: %+v", c.table, c.model, c.dataset, cell)
		}
	}
	p := published[Performance]("table2")
	if r := p.row("gcn+rep"); r.Layers[0] != [2]int{256, 256} || r.Delta[2] != 12.74 || r.From != "" ||
		p.row("gcn").From != "Platonov et al. (2023)" {
		t.Errorf("got %v", *r)
	}
	if p := published[InversionErrors]("table4"); p.Rows[1].Errors[1] != 2.41e-5 || p.Lipschitz != 0.99999 {
		t.Errorf("got %+v", p)
	}
	if r := published[DatasetStatistics]("table5").Rows[2]; r.Classes != 18 || r.AdjustedHomophily != -0.05 {
		t.Errorf("got %+v", r)
	}
	if c := statement(2); c.ReverseLimit["minesweeper"] != 256 {
		t.Errorf("got %+v", c)
	}
}

// TestTable3IsPartOfTable6 compares the numbers that the paper prints both in table 3 and in table 6.
func TestTable3IsPartOfTable6(t *testing.T) {
	part, all := published[Performance]("table3"), published[Performance]("table6")
	for i, r := range part.Rows {
		for k, dataset := range part.Columns {
			if other := all.Rows[i].Cells[slices.Index(all.Columns, dataset)]; r.Name != all.Rows[i].Name || r.Cells[k] != other {
				t.Errorf("%s on %s: %v and %v", r.Name, dataset, r.Cells[k], other)
			}
		}
	}
}

// TestPublishedNumbersAreInThePaper looks up the numbers from the folder data/paper in the LaTeX source of the paper.
// The test is skipped if the folder shared/paper, which is beside the repository, does not have this source.
func TestPublishedNumbersAreInThePaper(t *testing.T) {
	found, _ := filepath.Glob("../../../shared/paper/*.txt")
	if len(found) == 0 {
		t.Skip("the paper's LaTeX is not beside this checkout: its numbers are not compared with data/paper")
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	tex := strings.Join(strings.Fields(string(text)), " ")
	want := func(where, what string, times int) {
		if got := strings.Count(tex, what); got < times {
			t.Errorf("%s: the paper has %q %d times, not %d", where, what, got, times)
		}
	}
	cells := map[string]int{}
	for _, name := range []string{"table2", "table3", "table6"} {
		p := published[Performance](name)
		for _, r := range p.Rows {
			var line []string
			for k, c := range r.Cells {
				cells[fmt.Sprintf("tabnum{%.2f}{%.2f}", c.Mean, c.Std)]++
				if r.Layers != nil {
					line = append(line, fmt.Sprintf("$(%d/%d)$", r.Layers[k][0], r.Layers[k][1]))
				}
			}
			for _, d := range r.Delta {
				want(name+", "+r.Name, fmt.Sprintf("$%+.2f", d), 1)
			}
			if line != nil {
				compact := strings.ReplaceAll(tex, " ", "")
				if row := strings.Join(line, "&"); !strings.Contains(compact, row) {
					t.Errorf("%s, %s: the paper has no row %s", name, r.Name, row)
				}
			}
		}
	}
	for cell, times := range cells {
		want("tables 2, 3 and 6", cell, times)
	}
	if got := strings.Count(tex, "tabnum{"); got != sum(cells) {
		t.Errorf("the paper has %d cells with a spread, data/paper has %d", got, sum(cells))
	}
	for _, r := range published[InversionErrors]("table4").Rows {
		for _, e := range r.Errors {
			power := int(math.Floor(math.Log10(e)))
			want("table 4", fmt.Sprintf(`$%.2f\times10^{%d}$`, e/math.Pow10(power), power), 1)
		}
	}
	for _, r := range published[DatasetStatistics]("table5").Rows {
		row := fmt.Sprintf("& %s & %s & %d & %.2f & %.2f & %.2f", grouped(r.Nodes), grouped(r.Edges), r.Classes,
			r.AverageDegree, r.EdgeHomophily, r.AdjustedHomophily)
		want("table 5, "+r.Dataset, row, 1)
	}
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// grouped returns a number below a million as text, with a comma after the thousands, such as "12,345".
func grouped(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
