package report

import (
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// CSV returns the table in the format CSV, for other programs. Numbers have all their digits. Each cell of the table
// becomes a line of the CSV file, and each line in small print below a cell becomes a further line. The columns of the
// CSV file are:
//
//	row_group, row, column_group, column: the place of the cell in the table;
//	unit: the unit of the column;
//	line: 0 for the cell itself, 1, 2, ... for the lines in small print below the cell;
//	source: "ours" or "published" for a number, "missing" for a missing number;
//	mean, std, n: the number, its standard deviation, and the number of runs; empty if unknown;
//	text: the words or the formula in a cell, or the reason why a number is missing.
//
// Empty cells are left out.
func (t *Table) CSV() (string, error) {
	if err := t.check(); err != nil {
		return "", err
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

// fields returns what [Table.CSV] writes about the cell in the columns source, mean, std, n and text.
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

// exact writes a number with so many digits that reading the text gives exactly the same number again. Whole numbers
// below 1e15 are written without an exponent.
func exact(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
