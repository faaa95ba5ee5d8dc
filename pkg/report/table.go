package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Table is one table. Its methods return an error if there is a mistake in it.
type Table struct {
	// ID is the id in HTML and the label in LaTeX: letters, digits, - and _; see [Figure].ID.
	ID    string
	Title string // one line above the table; in LaTeX the caption
	// Notes are lines below the table. Explanations of bold numbers, of published numbers and of missing numbers are
	// added automatically.
	Notes   []string
	Corner  string // heading of the rows, for example "Model"
	Columns []Column
	Rows    []Row
}

type Column struct {
	Group string // heading above adjacent columns with the same Group
	Name  string
	Unit  string // below the name in small print, as in "accuracy [%]"
	Best  Best
}

// Best says which ranked number ([Cell.Ranked]) of a column is bold. Of three or more the second best is underlined.
type Best int

const (
	Unmarked Best = iota
	Highest
	Lowest
)

type Row struct {
	Group string // heading above adjacent rows with the same Group
	Label string
	Cells []Cell
}

func (t *Table) problem() error {
	if t.ID == "" || strings.Trim(t.ID, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		return fmt.Errorf("its ID must be a short fixed name of letters, digits, - and _")
	}
	if len(t.Columns) == 0 || len(t.Rows) == 0 {
		return fmt.Errorf("it has %d columns and %d rows: give at least one of each", len(t.Columns), len(t.Rows))
	}
	for i, r := range t.Rows {
		if len(r.Cells) != len(t.Columns) {
			return fmt.Errorf("row %d (%q) has %d cells for %d columns: "+
				"give one for each, an empty Cell{} where there is nothing", i, r.Label, len(r.Cells), len(t.Columns))
		}
		for k, c := range r.Cells {
			if err := c.check(); err != nil {
				return fmt.Errorf("row %d (%q), column %q: %w", i, r.Label, t.Columns[k].Name, err)
			}
		}
	}
	return nil
}

type rank int

const (
	unranked rank = iota
	first
	second
)

// ranks are indexed by row and column.
func (t *Table) ranks() [][]rank {
	ranks := make([][]rank, len(t.Rows))
	for i := range ranks {
		ranks[i] = make([]rank, len(t.Columns))
	}
	for k, column := range t.Columns {
		var values []float64 // with the digits that are shown; sorted below, the best number first
		competing := 0
		for _, r := range t.Rows {
			if v, ok := r.Cells[k].score(column.Best); ok {
				competing++
				values = append(values, v)
			}
		}
		slices.SortFunc(values, func(a, b float64) int { return cmp.Compare(b, a) })
		values = slices.Compact(values)
		if competing < 2 {
			continue
		}
		for i, r := range t.Rows {
			switch v, ok := r.Cells[k].score(column.Best); {
			case ok && v == values[0]:
				ranks[i][k] = first
			case ok && competing > 2 && v == values[1]:
				ranks[i][k] = second
			}
		}
	}
	return ranks
}

// score is the number by which a column is ranked, higher is better; ok is false if the cell is not ranked.
func (c Cell) score(best Best) (score float64, ok bool) {
	if !c.ranked || best == Unmarked {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(c.value(), ",", ""), 64)
	if err != nil {
		panic(err) // this cannot happen, since value writes a number
	}
	if best == Lowest {
		v = -v
	}
	return v, true
}

// Cell is a cell of a [Table], made by [Number], [Mean], [Count], [Scientific], [Difference], [Text], [Formula] or
// [Missing]; empty if zero. Its methods return a changed copy:
//
//	report.Mean(45.89, 1.45, 10, 2).Ranked().Below(report.Text("256/256"), report.Mean(45.9, 1.5, 10, 1).Published())
//
// shows 45.89 ± 1.45, compared with other ranked numbers of its column, and below it, in small print, 256/256 and the
// published number.
type Cell struct {
	kind      kind
	text      string  // the text, the formula, or the reason why the number is missing
	mean, std float64 // std is NaN if there is no standard deviation
	runs      int     // number of runs from which mean and std were computed; 0 if unknown
	decimals  int
	published bool
	ranked    bool
	shade     float64 // 0 to 1: how dark the cell is on a web page
	below     []Cell
	hover     []string
}

type kind int

const (
	kindEmpty kind = iota
	kindWords
	kindFormula
	kindMissing
	kindNumber
	kindCount
	kindScientific
	kindDifference
)

func Number(v float64, decimals int) Cell {
	return Cell{kind: kindNumber, mean: v, std: math.NaN(), decimals: decimals}
}

// Mean is a mean over runs (0: unknown) with its standard deviation (NaN: none), as in "45.89 ± 1.45". Give percentages
// as 45.89, and % as [Column.Unit].
func Mean(mean, std float64, runs, decimals int) Cell {
	return Cell{kind: kindNumber, mean: mean, std: std, runs: runs, decimals: decimals}
}

// Count is a whole number, as in "46,998".
func Count(n int) Cell {
	return Cell{kind: kindCount, mean: float64(n), std: math.NaN()}
}

// Scientific is a number as in "3.36 × 10⁻⁵".
func Scientific(v float64, decimals int) Cell {
	return Cell{kind: kindScientific, mean: v, std: math.NaN(), decimals: decimals}
}

// Difference is a number with sign and arrow, as in "+6.42 (↑)"; it cannot be ranked.
func Difference(v float64, decimals int) Cell {
	return Cell{kind: kindDifference, mean: v, std: math.NaN(), decimals: decimals}
}

func Text(text string) Cell { return Cell{kind: kindWords, text: text} }

// Formula is a formula on one line, such as "O(L_F |E| d + d^2)" or "L_{RF}", of letters, digits, spaces and + - = | (
// ) [ ] / . , < >.
func Formula(text string) Cell { return Cell{kind: kindFormula, text: text} }

// Missing is a number that is missing, for a reason that a note below the table gives, once for all cells.
func Missing(reason string) Cell { return Cell{kind: kindMissing, text: reason} }

// Published marks a number from a publication: italic.
func (c Cell) Published() Cell {
	c.published = true
	return c
}

// Ranked compares the number with the other ranked ones of its column; [Column.Best] says which is best, and bold.
func (c Cell) Ranked() Cell {
	c.ranked = true
	return c
}

// Shaded gives the cell a background on web pages, from 0 (white) to 1 (the darkest colour of maps).
func (c Cell) Shaded(share float64) Cell {
	c.shade = share
	return c
}

// Below adds lines in small print.
func (c Cell) Below(lines ...Cell) Cell {
	c.below = append(append([]Cell(nil), c.below...), lines...)
	return c
}

// Hover adds lines that a web page shows when the reader points at the cell, and CSV as lines of the cell.
func (c Cell) Hover(lines ...string) Cell {
	c.hover = append(append([]string(nil), c.hover...), lines...)
	return c
}

func (c Cell) numeric() bool { return c.kind >= kindNumber }

func (c Cell) check() error {
	switch {
	case c.kind == kindMissing && c.text == "":
		return fmt.Errorf("a missing number without a reason: say why it is missing")
	case c.numeric() && (math.IsNaN(c.mean) || math.IsInf(c.mean, 0)):
		return fmt.Errorf("the number %g can't be shown: use Missing with the reason", c.mean)
	case c.numeric() && (math.IsInf(c.std, 0) || c.std < 0):
		return fmt.Errorf("the spread %g of %g can't be shown: give one that is not negative, or NaN for none",
			c.std, c.mean)
	case c.decimals < 0 || c.decimals > 12:
		return fmt.Errorf("%d decimals can't be shown: give 0 to 12", c.decimals)
	case c.ranked && (!c.numeric() || c.kind == kindDifference):
		return fmt.Errorf("only numbers can be ranked, and no differences: leave out Ranked")
	}
	if c.kind == kindFormula {
		if _, err := parseFormula(c.text); err != nil {
			return err
		}
	}
	for _, line := range c.below {
		if len(line.below) > 0 || line.ranked {
			return fmt.Errorf("a line in small print can neither be ranked nor have lines below it")
		}
		if err := line.check(); err != nil {
			return err
		}
	}
	return nil
}

// value is the number as shown. Ranks compare these rounded numbers, so that what looks the same is marked the same.
func (c Cell) value() string {
	switch c.kind {
	case kindCount:
		return thousands(strconv.FormatInt(int64(c.mean), 10))
	case kindScientific:
		return strconv.FormatFloat(c.mean, 'e', c.decimals, 64)
	}
	return strconv.FormatFloat(c.mean, 'f', c.decimals, 64)
}

func thousands(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Confusion is a confusion matrix: a row for each true class, and a column for each class that nodes are taken for.
func Confusion(id, title string, classes []string, counts [][]int) *Table {
	t := &Table{ID: id, Title: title, Corner: "Class",
		Notes: []string{"A row has the nodes of a class, counted by the class that they are taken for. " +
			"A cell is the darker the larger a share of its row it holds; right predictions are on the diagonal."}}
	for _, name := range classes {
		t.Columns = append(t.Columns, Column{Group: "Taken for class", Name: name})
	}
	t.Columns = append(t.Columns, Column{Name: "Nodes"}, Column{Name: "Found", Unit: "%"})
	for k, of := range counts {
		all := 0
		for _, n := range of {
			all += n
		}
		found := Text("–")
		if all > 0 {
			found = Number(100*float64(of[k])/float64(all), 1)
		}
		row := Row{Label: classes[k]}
		for _, n := range of {
			row.Cells = append(row.Cells, Count(n).Shaded(float64(n)/float64(max(1, all))))
		}
		row.Cells = append(row.Cells, Count(all), found)
		t.Rows = append(t.Rows, row)
	}
	return t
}
