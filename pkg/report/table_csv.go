package report

import (
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// CSV has a line for each cell, for each line in small print below it and each that [Cell.Hover] shows; numbers have
// all digits. Columns: row_group, row, column_group, column and unit; line (0 for the cell itself); source ("ours",
// "published", "missing"); mean, std and n; text.
func (t *Table) CSV() (string, error) {
	if err := t.problem(); err != nil {
		return "", fmt.Errorf("report: table %q: %w", t.ID, err)
	}
	lines := [][]string{{"row_group", "row", "column_group", "column", "unit", "line", "source", "mean",
		"std", "n", "text"}}
	for _, r := range t.Rows {
		for k, c := range r.Cells {
			column := t.Columns[k]
			all := append([]Cell{c}, c.below...)
			for _, text := range c.hover {
				all = append(all, Text(text))
			}
			for i, line := range all {
				if line.kind != kindEmpty {
					at := []string{r.Group, r.Label, column.Group, column.Name, column.Unit, strconv.Itoa(i)}
					lines = append(lines, append(at, line.fields()...))
				}
			}
		}
	}
	var b strings.Builder
	if err := csv.NewWriter(&b).WriteAll(lines); err != nil {
		return "", fmt.Errorf("report: table %q: %w", t.ID, err)
	}
	return b.String(), nil
}

func (c Cell) fields() []string {
	source := ""
	switch {
	case c.kind == kindMissing:
		source = "missing"
	case c.published:
		source = "published"
	case c.numeric():
		source = "ours"
	}
	if !c.numeric() {
		return []string{source, "", "", "", c.text}
	}
	std, runs := "", ""
	if !math.IsNaN(c.std) {
		std = exact(c.std)
	}
	if c.runs > 0 {
		runs = strconv.Itoa(c.runs)
	}
	return []string{source, exact(c.mean), std, runs, ""}
}

// exact writes a number so that reading it gives the same number.
func exact(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
