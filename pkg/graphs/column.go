package graphs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Column is a column of texts, stored as pandas.Categorical does.
type Column struct {
	Name string
	// Values are the different texts, sorted; Codes has the place of each node's, or Missing.
	Values []string
	Codes  []int32
	// Line of the file in which the first value is missing, 0 if it is not known or if none is.
	Line int
}

// Missing is the code of a node whose value is not known.
const Missing int32 = -1

// The kinds of a table's columns: of numbers; of true and false, or yes and no; of other texts.
const (
	Numbers    = "numbers"
	Booleans   = "boolean"
	Categories = "categories"
)

// Number is a text as a feature; ok is false if it is not a finite number that fits.
func Number(text string) (v float32, ok bool) {
	wide, err := strconv.ParseFloat(text, 32)
	return float32(wide), err == nil && !math.IsInf(wide, 0) && !math.IsNaN(wide)
}

// boolean is 1 for true and yes, 0 for false and no.
func boolean(text string) (v float32, ok bool) {
	switch strings.ToLower(text) {
	case "true", "yes":
		return 1, true
	case "false", "no":
		return 0, true
	}
	return 0, false
}

// Kind is [Numbers], [Booleans] or [Categories].
func (c Column) Kind() string {
	all := func(read func(string) (float32, bool)) bool {
		other := func(text string) bool { _, ok := read(text); return !ok }
		return len(c.Values) > 0 && !slices.ContainsFunc(c.Values, other)
	}
	switch {
	case all(Number):
		return Numbers
	case all(boolean):
		return Booleans
	}
	return Categories
}

// NumMissing is the number of nodes without a value.
func (c Column) NumMissing() (count int) {
	for _, code := range c.Codes {
		if code == Missing {
			count++
		}
	}
	return count
}

func (c Column) check(nodes int) error {
	if len(c.Codes) != nodes {
		return fmt.Errorf("it has %d values for %d nodes", len(c.Codes), nodes)
	}
	for i := 1; i < len(c.Values); i++ {
		if c.Values[i-1] >= c.Values[i] {
			return fmt.Errorf("its texts %q and %q are out of order", c.Values[i-1], c.Values[i])
		}
	}
	for i, code := range c.Codes {
		if code < Missing || int(code) >= len(c.Values) {
			return fmt.Errorf("node %d has text %d, but texts are numbered 0 to %d", i, code, len(c.Values)-1)
		}
	}
	return nil
}

// Summary says what a column of a graph's table holds.
type Summary struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	Categories int    `json:"categories,omitempty"` // different texts, if Kind is [Categories]
	Missing    int    `json:"missing,omitempty"`    // nodes without a value
}

// Table summarises the columns of a graph: first those in Features, which may have no names, then Columns.
func (g *Graph) Table() []Summary {
	out := make([]Summary, g.NumFeatures, g.NumFeatures+len(g.Columns))
	for i := range out {
		if out[i].Kind = Numbers; g.FeatureNames != nil {
			out[i].Name = g.FeatureNames[i]
		}
	}
	for _, c := range g.Columns {
		s := Summary{Name: c.Name, Kind: c.Kind(), Missing: c.NumMissing()}
		if s.Kind == Categories {
			s.Categories = len(c.Values)
		}
		out = append(out, s)
	}
	return out
}

// ListFeatures names the columns of a graph's table in a line: "age, income (numbers); city (12 categories)". It has
// the first twenty, and the number of the others.
func (g *Graph) ListFeatures() string {
	table := g.Table()
	if len(table) == 0 {
		return "none"
	}
	if table[0].Name == "" && len(g.Columns) == 0 {
		return fmt.Sprintf("%d numbers without names", len(table))
	}
	const most = 20
	var b strings.Builder
	what := func(s Summary) string {
		text := s.Kind
		if s.Kind == Categories {
			text = fmt.Sprintf("%d categories", s.Categories)
		}
		if s.Missing > 0 {
			text += fmt.Sprintf(", %d missing", s.Missing)
		}
		return text
	}
	shown := table[:min(most, len(table))]
	for i, s := range shown {
		b.WriteString(cmp.Or(s.Name, strconv.Itoa(i)))
		switch last := i+1 == len(shown); {
		case !last && what(s) == what(shown[i+1]) && s.Kind != Categories:
			b.WriteString(", ")
		case !last:
			fmt.Fprintf(&b, " (%s); ", what(s))
		default:
			fmt.Fprintf(&b, " (%s)", what(s))
		}
	}
	if more := len(table) - len(shown); more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	return b.String()
}
