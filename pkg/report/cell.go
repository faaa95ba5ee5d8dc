package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Cell is one cell of a [Table]. Make it with [Number], [Mean], [Count], [Scientific], [Difference], [Text], [Formula]
// or [Missing]. The zero value is an empty cell. The methods [Cell.Published], [Cell.Ranked], [Cell.Shaded] and
// [Cell.Below] return a changed copy of the cell, so that calls can be chained:
//
//	report.Mean(45.89, 1.45, 10, 2).Ranked().Below(report.Text("256/256"), report.Mean(45.9, 1.5, 10, 1).Published())
//
// This cell shows 45.89 ± 1.45, a mean over ten runs with two decimals. The number takes part in the choice of the best
// number of its column. Two lines in small print stand below it: the text "256/256", and the published number.
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

// Number returns a cell with the number v, shown with the given number of decimals.
func Number(v float64, decimals int) Cell {
	return Cell{kind: kindNumber, mean: v, std: math.NaN(), decimals: decimals}
}

// Mean returns a cell with a mean over some runs and its standard deviation, as in "45.89 ± 1.45". Give NaN for std if
// there is only a single run: then only the mean is shown. Give 0 for runs if the number of runs is not known. If the
// numbers are percentages, give 45.89 instead of 0.4589, and write the percent sign into the field [Column.Unit].
func Mean(mean, std float64, runs, decimals int) Cell {
	return Cell{kind: kindNumber, mean: mean, std: std, runs: runs, decimals: decimals}
}

// Count returns a cell with a whole number, shown with commas as in "46,998".
func Count(n int) Cell {
	return Cell{kind: kindCount, mean: float64(n), std: math.NaN()}
}

// Scientific returns a cell with v as in "3.36 × 10⁻⁵". The factor before the power of ten has the given number of
// decimals.
func Scientific(v float64, decimals int) Cell {
	return Cell{kind: kindScientific, mean: v, std: math.NaN(), decimals: decimals}
}

// Difference returns a cell with v, its sign and an arrow, as in "+6.42 (↑)". A difference cannot be marked as the best
// number of a column.
func Difference(v float64, decimals int) Cell {
	return Cell{kind: kindDifference, mean: v, std: math.NaN(), decimals: decimals}
}

// Text returns a cell with words.
func Text(text string) Cell { return Cell{kind: kindWords, text: text} }

// Formula returns a cell with a formula on one line, such as "O(L_F |E| d + d^2)" or "L_{RF}". The formula may contain
// letters, digits, spaces and the characters + - = | ( ) [ ] / . , < and >. Subscripts and superscripts are written as
// in LaTeX.
func Formula(text string) Cell { return Cell{kind: kindFormula, text: text} }

// Missing returns a cell for a number that is missing. The reason appears as a note below the table. Cells with the
// same reason share one note.
func Missing(reason string) Cell { return Cell{kind: kindMissing, text: reason} }

// Published returns a copy of the cell that is marked as published. The number in such a cell comes from a publication,
// and is shown in italics.
func (c Cell) Published() Cell {
	c.published = true
	return c
}

// Ranked returns a copy of the cell whose number is compared with the other ranked numbers of its column. In the table,
// the best of these numbers is bold. The field [Column.Best] says whether the highest or the lowest number is the best.
func (c Cell) Ranked() Cell {
	c.ranked = true
	return c
}

// Shaded returns a copy of the cell that has a background colour on web pages. The argument share, from 0 to 1, says
// how dark the background is. The share 0 gives white. Larger shares give the colours of the maps that [Board] draws,
// and 1 gives the darkest of them.
func (c Cell) Shaded(share float64) Cell {
	c.shade = share
	return c
}

// Below returns a copy of the cell with further lines in small print below its number. The lines may be, for example,
// the numbers of layers and the published number.
func (c Cell) Below(lines ...Cell) Cell {
	c.below = append(append([]Cell(nil), c.below...), lines...)
	return c
}

// Hover adds lines that a web page shows when the reader points at the cell. In CSV they are lines of the cell; other
// formats leave them out.
func (c Cell) Hover(lines ...string) Cell {
	c.hover = append(append([]string(nil), c.hover...), lines...)
	return c
}

// numeric tells whether the cell holds a number.
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

// value returns the number as text, rounded to the digits that are shown. The best number of a column is chosen among
// these rounded numbers. So numbers that look the same are marked in the same way.
func (c Cell) value() string {
	switch c.kind {
	case kindCount:
		return thousands(strconv.FormatInt(int64(c.mean), 10))
	case kindScientific:
		return strconv.FormatFloat(c.mean, 'e', c.decimals, 64)
	}
	return strconv.FormatFloat(c.mean, 'f', c.decimals, 64)
}

// thousands puts commas into the digits of a whole number, as in "46,998".
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
