package report

import (
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// someTable returns a table with every kind of cell. It also has characters that must be escaped in HTML, Markdown or
// LaTeX.
func someTable() *Table {
	published := func(mean, std float64) Cell { return Mean(mean, std, 10, 2).Published() }
	return &Table{
		ID: "heterophilic", Title: `50 % & more of_it {"<b>"}`, Corner: "Model",
		Notes: []string{"Mean ± std | over splits."},
		Columns: []Column{
			{Group: "Wikipedia", Name: "Squirrel", Unit: "accuracy [%]", Best: Highest},
			{Group: "Wikipedia", Name: "Chameleon", Unit: "accuracy [%]", Best: Highest},
			{Name: "Inversion error", Best: Lowest},
			{Name: "Nodes"},
			{Name: "Time"},
		},
		Rows: []Row{
			{"Plain backbones", "GCN", []Cell{Mean(39.4712, 1.47, 10, 2).Ranked(), Mean(40.89, 4.12, 10, 2).Ranked(),
				Scientific(3.36e-5, 2).Ranked(), Count(46998), Formula("O(L_F |E| d + d^{2})")}},
			{"Ours", "GCN+ReP", []Cell{
				Mean(45.8912, 1.45, 10, 2).Ranked().Below(Text("256/256"), published(45.89, 1.45)),
				Missing("needs 30 GB"), Scientific(-12, 1), Count(999), Text("a|b")}},
			{"Ours", "Δ",
				[]Cell{Difference(6.42, 2), Difference(-0.3, 2), Difference(0.001, 2), {}, Missing("needs 30 GB")}},
			{"Baselines", "H₂GCN*", []Cell{published(45.891, 1.15).Ranked(), published(40.75, 3.64).Ranked(),
				Scientific(2.23e-5, 2).Ranked(), Count(-1234567), Missing("not run")}},
			{"Baselines", "FAGCN*", []Cell{published(41.08, 2.27).Ranked(), published(30, math.NaN()).Ranked(),
				Scientific(9e-5, 2).Ranked(), Number(1.5, 1), {}}},
		},
	}
}

func TestTableHTML(t *testing.T) {
	text, err := someTable().HTML()
	if err != nil {
		t.Fatal(err)
	}
	var rows, cells int
	var said strings.Builder
	d := xml.NewDecoder(strings.NewReader(text))
	d.AutoClose = xml.HTMLAutoClose
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("not well formed: %v\n%s", err, text)
		}
		switch e := token.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "tr":
				rows++
			case "td":
				cells++
			}
		case xml.CharData:
			said.Write(e)
		}
	}
	if rows != 2+3+5 || cells != 25 { // two rows of headings, three names of groups, five rows of numbers
		t.Errorf("%d rows and %d cells, want 10 and 25", rows, cells)
	}
	for _, want := range []string{`50 % & more of_it {"<b>"}`,
		"Ours", "45.89 ± 1.45", "256/256", "3.36 × 10−5", "−1.2 × 101", "46,998",
		"−1,234,567", "+6.42 (↑)", "−0.30 (↓)", "H₂GCN*", "a Missing: needs 30 GB", "b Missing: not run",
		"O(LF |E| d + d2)"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("the table does not say %q:\n%s", want, said.String())
		}
	}
	for _, want := range []string{"<b>45.89</b>", "<u>41.08</u>", "<b>40.89</b>", "<u>40.75</u>",
		`<b>2.23 × 10<sup style="line-height:0">−5</sup></b>`, "<u>3.36 × 10"} {
		if !strings.Contains(text, want) {
			t.Errorf("no mark %s:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "<b>45.89</b>"); n != 2 {
		t.Errorf("of two equal best numbers %d are marked", n)
	}
}

func TestTableMarkdown(t *testing.T) {
	text, err := someTable().Markdown()
	if err != nil {
		t.Fatal(err)
	}
	var rows, widths int
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "|") {
			rows++
			if n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); n != 7 {
				t.Errorf("a row has %d bars, want 7: %s", n, line)
			} else {
				widths++
			}
		}
	}
	if rows != 2+3+5 || widths != rows {
		t.Errorf("%d rows, %d of them of full width, want 10", rows, widths)
	}
	for _, want := range []string{"**45.89**<small> ± 1.45</small><br><small>256/256</small>", `H₂GCN\*`,
		"<i><u>41.08</u>", "*Ours*"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in:\n%s", want, text)
		}
	}
}

func TestTableLaTeX(t *testing.T) {
	text, err := someTable().LaTeX()
	if err != nil {
		t.Fatal(err)
	}
	depth, dollars := 0, 0
	for i, c := range text {
		if i > 0 && text[i-1] == '\\' {
			continue
		}
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		case '$':
			dollars++
		}
		if depth < 0 {
			t.Fatalf("a brace closes nothing in:\n%s", text[:i])
		}
		if c > 0xff {
			t.Errorf("LaTeX would stop at %q", c)
		}
	}
	if depth != 0 || dollars%2 != 0 {
		t.Errorf("%d braces stay open, %d dollars", depth, dollars)
	}
	_, inside, _ := strings.Cut(text, "\\midrule")
	inside, _, _ = strings.Cut(inside, "\\bottomrule")
	rows := 0
	for _, line := range strings.Split(inside, "\n") {
		if strings.HasSuffix(line, ` \\`) && !strings.Contains(line, "multicolumn") {
			rows++
			if n := strings.Count(strings.ReplaceAll(line, `\&`, ""), "&"); n != 5 {
				t.Errorf("a row has %d columns, want 6: %s", n+1, line)
			}
		}
	}
	if rows != 5+2 { // five rows, and two rows for the lines in small print
		t.Errorf("%d rows, want 7:\n%s", rows, text)
	}
	bad := someTable()
	bad.Title = "網"
	if _, err := bad.LaTeX(); err == nil || !strings.Contains(err.Error(), "網") {
		t.Errorf("a sign that LaTeX does not have: %v", err)
	}
}

func TestTableCSV(t *testing.T) {
	text, err := someTable().CSV()
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(lines); n != 1+23+2 { // the headings, 25 cells of which 2 are empty, and 2 lines in small print
		t.Errorf("%d lines:\n%s", n, text)
	}
	for _, want := range [][]string{
		{"Ours", "GCN+ReP", "Wikipedia", "Squirrel", "accuracy [%]", "0", "ours", "45.8912", "1.45", "10", ""},
		{"Ours", "GCN+ReP", "Wikipedia", "Squirrel", "accuracy [%]", "1", "", "", "", "", "256/256"},
		{"Ours", "GCN+ReP", "Wikipedia", "Squirrel", "accuracy [%]", "2", "published", "45.89", "1.45", "10", ""},
		{"Ours", "GCN+ReP", "Wikipedia", "Chameleon", "accuracy [%]", "0", "missing", "", "", "", "needs 30 GB"},
		{"Plain backbones", "GCN", "", "Inversion error", "", "0", "ours", "3.36e-05", "", "", ""},
		{"Baselines", "H₂GCN*", "", "Nodes", "", "0", "ours", "-1234567", "", "", ""},
	} {
		if !slices.ContainsFunc(lines, func(line []string) bool { return slices.Equal(line, want) }) {
			t.Errorf("no line %q in:\n%s", want, text)
		}
	}
}

func TestRanks(t *testing.T) {
	for _, c := range []struct {
		best  Best
		cells []Cell
		want  []rank
	}{
		{Highest, []Cell{Number(1, 0).Ranked(), Number(3, 0).Ranked(), Number(2, 0).Ranked()},
			[]rank{unranked, first, second}},
		{Lowest, []Cell{Number(1, 0).Ranked(), Number(3, 0).Ranked(), Number(2, 0).Ranked()},
			[]rank{first, unranked, second}},
		{Unmarked, []Cell{Number(1, 0).Ranked(), Number(3, 0).Ranked()}, []rank{unranked, unranked}},
		{Highest, []Cell{Number(1.04, 1).Ranked(), Number(0.96, 1).Ranked(), Number(9, 1), Number(0.5, 1).Ranked()},
			[]rank{first, first, unranked, second}},
		// If only two numbers are ranked, the lower one is not marked as the second best.
		{Highest, []Cell{Number(2, 0).Ranked(), Number(1, 0).Ranked()}, []rank{first, unranked}},
		{Highest, []Cell{Number(2, 0).Ranked(), Missing("late")}, []rank{unranked, unranked}},
		{Lowest, []Cell{Scientific(2e-5, 1).Ranked(), Scientific(3e-4, 1).Ranked(), Count(1000).Ranked()},
			[]rank{first, second, unranked}},
	} {
		table := &Table{Columns: []Column{{Best: c.best}}}
		for _, cell := range c.cells {
			table.Rows = append(table.Rows, Row{Cells: []Cell{cell}})
		}
		for i, r := range table.ranks() {
			if r[0] != c.want[i] {
				t.Errorf("best %d: cell %d of %v has rank %d, want %d", c.best, i, c.cells, r[0], c.want[i])
			}
		}
	}
}

func TestTableMistakes(t *testing.T) {
	for want, change := range map[string]func(*Table){
		"short fixed name": func(t *Table) { t.ID = "a b" },
		"at least one":     func(t *Table) { t.Rows = nil },
		`row 1 ("GCN+ReP") has 1 cells for 5 columns`:   func(t *Table) { t.Rows[1].Cells = t.Rows[1].Cells[:1] },
		`row 0 ("GCN"), column "Nodes": the number NaN`: func(t *Table) { t.Rows[0].Cells[3] = Number(math.NaN(), 1) },
		"say why":        func(t *Table) { t.Rows[0].Cells[3] = Missing("") },
		"spread -1 of 2": func(t *Table) { t.Rows[0].Cells[3] = Mean(2, -1, 3, 1) },
		"-1 decimals":    func(t *Table) { t.Rows[0].Cells[3] = Number(1, -1) },
		"only numbers":   func(t *Table) { t.Rows[0].Cells[3] = Difference(1, 1).Ranked() },
		`formula "a_"`:   func(t *Table) { t.Rows[0].Cells[3] = Formula("a_") },
		`formula "a^{b"`: func(t *Table) { t.Rows[0].Cells[3] = Formula("a^{b") },
		`holds "\\"`:     func(t *Table) { t.Rows[0].Cells[3] = Formula(`\b`) },
		"in small print": func(t *Table) { t.Rows[0].Cells[3] = Text("a").Below(Number(1, 1).Ranked()) },
	} {
		table := someTable()
		change(table)
		for format, write := range map[string]func() (string, error){"HTML": table.HTML, "Markdown": table.Markdown,
			"LaTeX": table.LaTeX, "CSV": table.CSV} {
			if text, err := write(); err == nil || !strings.Contains(err.Error(), want) || text != "" {
				t.Errorf("%s: %v, want an error that says %q, and no text", format, err, want)
			}
		}
	}
}
