package report

import (
	"cmp"
	"fmt"
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
