package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Cell is one cell of a [Table]. Make it with [Number], [Mean], [Count], [Scientific], [Difference], [Text], [Formula]
// or [Missing]. The zero value is an empty cell. The methods of a cell return a changed copy, so that calls can be
// chained:
//
//	report.Mean(45.89, 1.45, 10, 2).Ranked().Below(report.Text("256/256"), report.Mean(45.9, 1.5, 10, 1).Published())
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
// numbers are percentages, give 45.89 instead of 0.4589, and say so in the field Unit of the column.
func Mean(mean, std float64, runs, decimals int) Cell {
	return Cell{kind: kindNumber, mean: mean, std: std, runs: runs, decimals: decimals}
}

// Count returns a cell with a whole number, with commas between thousands.
func Count(n int) Cell {
	return Cell{kind: kindCount, mean: float64(n), std: math.NaN()}
}

// Scientific returns a cell with v as in "3.36 × 10⁻⁵". The factor before the power of ten has the given number of
// decimals.
func Scientific(v float64, decimals int) Cell {
	return Cell{kind: kindScientific, mean: v, std: math.NaN(), decimals: decimals}
}

// Difference returns a cell with v, its sign and an arrow, as in "+6.42 (↑)". Differences cannot be marked as the best
// of a column.
func Difference(v float64, decimals int) Cell {
	return Cell{kind: kindDifference, mean: v, std: math.NaN(), decimals: decimals}
}

// Text returns a cell with words.
func Text(text string) Cell { return Cell{kind: kindWords, text: text} }

// Formula returns a cell with a formula on one line. It may have letters, digits, +, -, =, |, brackets, and subscripts
// and superscripts as in LaTeX ("O(L_F |E| d + d^2)", "L_{RF}").
func Formula(text string) Cell { return Cell{kind: kindFormula, text: text} }

// Missing returns a cell for a number that is missing. The reason appears as a note below the table. Cells with the
// same reason share one note.
func Missing(reason string) Cell { return Cell{kind: kindMissing, text: reason} }

// Published returns the cell with a mark that its number comes from a publication.
func (c Cell) Published() Cell {
	c.published = true
	return c
}

// Ranked returns the cell, changed so that its number is ranked: the best of the ranked numbers of a column is marked,
// as [Column.Best] says.
func (c Cell) Ranked() Cell {
	c.ranked = true
	return c
}

// Shaded returns the cell with a background colour on web pages: white for the share 0, and the darkest colour of
// [Board] for the share 1.
func (c Cell) Shaded(share float64) Cell {
	c.shade = share
	return c
}

// Below returns the cell with more lines below it in small print, for example with numbers of layers or with the
// published number.
func (c Cell) Below(lines ...Cell) Cell {
	c.below = append(append([]Cell(nil), c.below...), lines...)
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

// value returns the number as text, rounded to the digits that are shown. The best number of a column is found by these
// digits. So numbers that look the same get the same mark.
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
