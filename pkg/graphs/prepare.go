package graphs

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/revgnn/revgnn/pkg/machine"
)

// Preparation has the settings of what becomes of a graph's table before a model reads it.
//
// "standardise" makes (x - mean) / std of a column of numbers, with the population's standard deviation, and 1 in place
// of 0, as StandardScaler of scikit-learn; "row-normalise" is [RowNormalise] of a node's numbers, booleans and
// categories together. Booleans become 0 and 1, and texts a column NAME=TEXT of 0 and 1 for each category, as those of
// OneHotEncoder. With "mean", a missing number or boolean becomes the mean and a missing text no category, and a column
// NAME=missing marks these if the fitted nodes have some, as the indicator of SimpleImputer.
//
// FitOn says of which nodes means, deviations and categories are. Structure appends features of the graph's edges, see
// [Prepared.structure]; the scale does not change these.
type Preparation struct {
	Scale     string `absent:"none" oneof:"none,standardise,row-normalise" help:"scale of the features"`
	FitOn     string `absent:"train" oneof:"train,all" help:"nodes to take means and categories from"`
	Missing   string `absent:"refuse" oneof:"refuse,mean" help:"missing values are an error, or filled in and marked"`
	Structure string `absent:"none" oneof:"none,constant,degree,identity,laplacian,random-walk" help:"added features"`
}

// Prepared is a preparation that was fitted to a graph. Nil stands for none.
type Prepared struct {
	FitOn        string `json:"fit_on"`
	FillsMissing bool   `json:"fills_missing,omitempty"`
	RowNormalise bool   `json:"row_normalise,omitempty"`
	Structure    string `json:"structure"`
	// Columns are those of the table, in the order of [Graph.Table].
	Columns []Fitted `json:"columns"`
	// Names are those of the features that a model reads.
	Names []string `json:"names"`
	// Graph identifies the graph that the structure is of, if it fits no other; see [Graph.identity].
	Graph string `json:"graph,omitempty"`
}

// Fitted is what a preparation knows of a column.
type Fitted struct {
	Name string `json:"name,omitempty"`
	Kind string `json:"kind"`
	// Mean is that of numbers, or the share of booleans that are true; Std is 0 if numbers are not standardised.
	Mean float64 `json:"mean,omitempty"`
	Std  float64 `json:"std,omitempty"`
	// Categories are sorted.
	Categories []string `json:"categories,omitempty"`
	// Marked says that a column marks missing values.
	Marked bool `json:"marked,omitempty"`
}

// maxCategories is the largest number of categories of a column.
const maxCategories = 256

// Prepare fits the preparation to nodes of a graph, those for training or all, and returns it with sentences that say
// what was done and what deserves a look. It is nil for a table of finite numbers if the settings ask for nothing.
func (p Preparation) Prepare(g *Graph, train []bool) (out *Prepared, notes []string, err error) {
	if p.Scale != "standardise" {
		notes = g.unlikeScales()
	}
	if p.Scale == "none" && p.Missing == "refuse" && p.Structure == "none" && len(g.Columns) == 0 {
		return nil, notes, nil
	}
	out = &Prepared{FitOn: p.FitOn, FillsMissing: p.Missing == "mean", RowNormalise: p.Scale == "row-normalise",
		Structure: p.Structure, Columns: []Fitted{}}
	var nodes []int
	for i := range g.NumNodes {
		if p.FitOn == "all" || train[i] {
			nodes = append(nodes, i)
		}
	}
	if _, err := g.places(); err != nil {
		return nil, nil, err
	}
	for place, s := range g.Table() {
		f := Fitted{Name: s.Name, Kind: s.Kind}
		if s.Kind == Categories {
			err = f.fitTexts(g.texts(place), nodes)
		} else {
			err = f.fitNumbers(g, place, nodes, p)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("graph %q: column %q: %w", g.Name, s.Name, err)
		}
		if s.Missing > 0 && p.Missing == "mean" {
			codes := g.texts(place).Codes
			f.Marked = slices.ContainsFunc(nodes, func(n int) bool { return codes[n] == Missing })
		}
		out.Columns, out.Names = append(out.Columns, f), append(out.Names, f.names(place)...)
	}
	more, err := out.structureNames(g)
	if err != nil {
		return nil, nil, err
	}
	out.Names = append(out.Names, more...)
	return out, append(notes, out.said(len(nodes))), nil
}

// fitTexts takes the categories from nodes of a column.
func (f *Fitted) fitTexts(c Column, nodes []int) error {
	const few = 9 // texts of so few nodes may happen to differ
	all, known := len(c.Values), len(c.Codes)-c.NumMissing()
	switch {
	case known == 0:
		return errors.New("it has no value at all: leave it out")
	case all > max(few, known/2):
		return fmt.Errorf("its %d values are %d different texts, as those of identifiers and dates: leave it out, or "+
			"make numbers or a few categories of it", known, all)
	case all > maxCategories:
		return fmt.Errorf("it has %d categories, more than the limit of %d: join rare ones, or leave it out", all,
			maxCategories)
	}
	used := make([]bool, all)
	for _, n := range nodes {
		if code := c.Codes[n]; code != Missing {
			used[code] = true
		}
	}
	for code, text := range c.Values {
		if used[code] {
			f.Categories = append(f.Categories, text)
		}
	}
	return nil
}

// fitNumbers computes the mean of a column's nodes, and the deviation if numbers are standardised.
func (f *Fitted) fitNumbers(g *Graph, place int, nodes []int, p Preparation) error {
	standardise := p.Scale == "standardise" && f.Kind == Numbers
	if p.Missing != "mean" && !standardise {
		return nil
	}
	values, err := g.numbers(place, f.Kind)
	if err != nil {
		return err
	}
	var known, filled []float64
	for _, n := range nodes {
		if v := values[n]; !math.IsNaN(v) {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return errors.New("no node that means are taken from has a value: leave it out, or choose --fit-on all")
	}
	f.Mean = stat.Mean(known, nil)
	if !standardise {
		return nil
	}
	for _, n := range nodes {
		v := values[n]
		if math.IsNaN(v) {
			v = f.Mean
		}
		filled = append(filled, v)
	}
	var variance float64
	f.Mean, variance = stat.PopMeanVariance(filled, nil)
	f.Std = math.Sqrt(variance)
	// By rounding, a constant column may have a variance up to this (scikit-learn, _is_constant_feature).
	const epsilon = 0x1p-52
	n := float64(len(filled))
	if rounding := n * f.Mean * epsilon; variance <= n*epsilon*variance+rounding*rounding {
		f.Std = 1
	}
	return nil
}

// names are those of the features that a column becomes; place is its number, for one without a name.
func (f Fitted) names(place int) (names []string) {
	switch {
	case f.Kind != Categories && f.Name == "":
		names = []string{strconv.Itoa(place)}
	case f.Kind != Categories:
		names = []string{f.Name}
	default:
		for _, text := range f.Categories {
			names = append(names, f.Name+"="+text)
		}
	}
	if f.Marked {
		names = append(names, f.Name+"=missing")
	}
	return names
}

// said is a sentence for the user; nodes is the number of those that were fitted.
func (p *Prepared) said(nodes int) string {
	var scaled, marked, encoded []string
	for i, f := range p.Columns {
		if f.Std > 0 {
			scaled = append(scaled, f.names(i)[0])
		}
		if f.Kind == Categories {
			encoded = append(encoded, fmt.Sprintf("%s (%d)", f.Name, len(f.Categories)))
		}
		if f.Marked {
			marked = append(marked, f.Name)
		}
	}
	parts := []string{fmt.Sprintf("the model reads %d features", len(p.Names))}
	for _, part := range []struct {
		what string
		of   []string
	}{{"standardised", scaled}, {"one for each category of", encoded}, {"missing values marked in", marked}} {
		if len(part.of) > 0 {
			parts = append(parts, part.what+" "+some(part.of))
		}
	}
	if p.RowNormalise {
		parts = append(parts, "rows divided by their sums")
	}
	if p.Structure != "none" {
		parts = append(parts, "structure "+p.Structure)
	}
	text := strings.Join(parts, "; ")
	if len(scaled)+len(encoded)+len(marked) > 0 {
		of := map[string]string{"all": "all", "train": "training"}
		text += fmt.Sprintf("; fitted on %s nodes (%d)", of[p.FitOn], nodes)
	}
	return text
}

// some lists the first names, and how many more there are.
func some(names []string) string {
	const most = 10
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Apply makes the graph that a model reads: its table becomes the features that the preparation was fitted for. The
// columns are found by their names, if both graphs have some. The notes name texts that are no categories.
func (p *Prepared) Apply(g *Graph) (out *Graph, notes []string, err error) {
	if p == nil {
		return g, nil, nil
	}
	places, err := p.match(g)
	if err != nil {
		return nil, nil, err
	}
	n, all := g.NumNodes, len(p.Names)
	if err := machine.Room(4 * int64(n) * int64(all)); err != nil {
		return nil, nil, fmt.Errorf("graph %q with %d features %w", g.Name, all, err)
	}
	table := 0 // the number of features from the table
	for k, f := range p.Columns {
		table += len(f.names(k))
	}
	x, at := make([]float32, n*table), 0
	for k, f := range p.Columns {
		width := len(f.names(k))
		note, err := f.put(g, places[k], p.FillsMissing, func(node, column int, v float32) {
			x[node*table+at+(column+width)%width] = v
		})
		if err != nil {
			return nil, nil, fmt.Errorf("graph %q: column %q: %w", g.Name, f.Name, err)
		}
		if note != "" {
			notes = append(notes, note)
		}
		at += width
	}
	if p.RowNormalise && !g.RowNormalised {
		RowNormalise(x, table)
	}
	own := *g
	own.Columns, own.NumFeatures, own.FeatureNames, own.Features = nil, all, p.Names, x
	if width := all - table; width > 0 {
		structure, err := p.structure(g, width)
		if err != nil {
			return nil, nil, fmt.Errorf("graph %q: %w", g.Name, err)
		}
		own.Features = make([]float32, 0, n*all)
		for i := range n {
			own.Features = append(append(own.Features, x[i*table:(i+1)*table]...), structure[i*width:(i+1)*width]...)
		}
	}
	return &own, notes, nil
}

// put puts the features of a column, counted from 0, or from -1 backwards.
func (f Fitted) put(g *Graph, place int, fill bool, put func(node, column int, v float32)) (note string, err error) {
	gaps := 0
	gap := func(node int) {
		if gaps++; gaps == 1 && !fill {
			err = g.gap(place, node)
		}
		if f.Marked {
			put(node, -1, 1)
		}
	}
	if f.Kind != Categories {
		values, failed := g.numbers(place, f.Kind)
		if failed != nil {
			return "", failed
		}
		for i, v := range values {
			if math.IsNaN(v) {
				gap(i)
				v = f.Mean
			}
			if f.Std > 0 {
				v = (v - f.Mean) / f.Std
			}
			put(i, 0, float32(v))
		}
		return "", err
	}
	c, unseen, nodes := g.texts(place), map[string]bool{}, 0
	for i, code := range c.Codes {
		if code == Missing {
			gap(i)
		} else if k, is := slices.BinarySearch(f.Categories, c.Values[code]); is {
			put(i, k, 1)
		} else {
			unseen[c.Values[code]] = true
			nodes++
		}
	}
	if nodes > 0 {
		note = fmt.Sprintf("column %q: training had no %s: %d nodes get no category", f.Name,
			some(slices.Sorted(maps.Keys(unseen))), nodes)
	}
	return note, err
}

// gap is the error for a missing value.
func (g *Graph) gap(place, node int) error {
	where := fmt.Sprintf("node %q", g.ID(node))
	if line := g.Columns[place-g.NumFeatures].Line; line > 0 {
		where = fmt.Sprintf("line %d", line)
	}
	return fmt.Errorf("%s has no value: fill it in, leave the column out, or train with --missing mean, which takes "+
		"the mean, or no category, and marks the node", where)
}

// numbers are a column's values as numbers, NaN for missing ones.
func (g *Graph) numbers(place int, kind string) ([]float64, error) {
	out := make([]float64, g.NumNodes)
	if place < g.NumFeatures {
		for i := range out {
			v := float64(g.Features[i*g.NumFeatures+place])
			if out[i] = v; kind == Booleans && v != 0 && v != 1 {
				return nil, fmt.Errorf("node %q has the value %v, but training had true and false", g.ID(i), v)
			}
		}
		return out, nil
	}
	read, c := Number, g.Columns[place-g.NumFeatures]
	if kind == Booleans {
		read = boolean
	}
	values := make([]float64, len(c.Values))
	for k, text := range c.Values {
		v, ok := read(text)
		if values[k] = float64(v); !ok {
			return nil, fmt.Errorf("it has the value %q, but in training all were %s", text, kind)
		}
	}
	for i, code := range c.Codes {
		if out[i] = math.NaN(); code != Missing {
			out[i] = values[code]
		}
	}
	return out, nil
}

// texts are a column's values as texts: numbers where a table has no others.
func (g *Graph) texts(place int) Column {
	if place >= g.NumFeatures {
		return g.Columns[place-g.NumFeatures]
	}
	text := func(i int) string {
		return strconv.FormatFloat(float64(g.Features[i*g.NumFeatures+place]), 'g', -1, 32)
	}
	c, all := Column{Codes: make([]int32, g.NumNodes)}, map[string]bool{}
	for i := range c.Codes {
		all[text(i)] = true
	}
	c.Values = slices.Sorted(maps.Keys(all))
	for i := range c.Codes {
		k, _ := slices.BinarySearch(c.Values, text(i))
		c.Codes[i] = int32(k)
	}
	return c
}

// places are those of the columns by their names.
func (g *Graph) places() (map[string]int, error) {
	out := map[string]int{}
	for i, s := range g.Table() {
		if _, twice := out[s.Name]; twice && s.Name != "" {
			return nil, fmt.Errorf("graph %q: two columns are named %q: give one another name", g.Name, s.Name)
		}
		out[s.Name] = i
	}
	return out, nil
}

// match finds the columns in a graph.
func (p *Prepared) match(g *Graph) (places []int, err error) {
	const same = "give a graph with the columns that the model was trained on"
	byName, err := g.places()
	if err != nil {
		return nil, err
	}
	_, nameless := byName[""]
	if nameless || len(p.Columns) == 0 || slices.ContainsFunc(p.Columns, func(f Fitted) bool { return f.Name == "" }) {
		table := g.Table()
		if len(table) != len(p.Columns) {
			return nil, fmt.Errorf("graph %q has %d columns of features, but the model was trained on %d: %s", g.Name,
				len(table), len(p.Columns), same)
		}
		for i, f := range p.Columns {
			// Columns beside features stand after them, so that without names a place says nothing if kinds differ.
			if s := table[i]; len(g.Columns) > 0 && (s.Kind != f.Kind || s.Name != f.Name) {
				return nil, fmt.Errorf("column %d of graph %q, which has no names of all columns, is %q (%s), but in "+
					"training it was %q (%s): %s", i+1, g.Name, s.Name, s.Kind, f.Name, f.Kind, same)
			}
			places = append(places, i)
		}
		return places, nil
	}
	var missing []string
	for _, f := range p.Columns {
		place, has := byName[f.Name]
		if !has {
			missing = append(missing, f.Name)
		}
		places = append(places, place)
		delete(byName, f.Name)
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("graph %q lacks the columns %s: %s", g.Name, some(missing), same)
	}
	if len(byName) > 0 {
		return nil, fmt.Errorf("graph %q has the columns %s, which the model was not trained on: leave them out",
			g.Name, some(slices.Sorted(maps.Keys(byName))))
	}
	return places, nil
}

// unlikeScales is a warning if the largest and the smallest of the means of |x|, over those x that are not 0, of two
// columns of numbers differ by orders of magnitude.
func (g *Graph) unlikeScales() []string {
	const much = 100
	type size struct {
		name string
		mean float64
	}
	var least, most size
	for place, s := range g.Table() {
		if s.Kind != Numbers {
			continue
		}
		values, err := g.numbers(place, Numbers)
		sum, count := 0.0, 0
		for _, v := range values {
			if !math.IsNaN(v) && v != 0 {
				sum += math.Abs(v)
				count++
			}
		}
		if err != nil || count == 0 {
			continue
		}
		now := size{cmp.Or(s.Name, strconv.Itoa(place)), sum / float64(count)}
		if least.mean == 0 || now.mean < least.mean {
			least = now
		}
		if now.mean > most.mean {
			most = now
		}
	}
	if most.mean < much*least.mean || least.mean == 0 {
		return nil
	}
	return []string{fmt.Sprintf("warning: the columns %q (about %.2g) and %q (about %.2g) differ in scale, and the "+
		"larger one drowns the other: choose --scale standardise", most.name, most.mean, least.name, least.mean)}
}

// RowNormalise divides each row of a matrix by max(1, s), in place, where s is the sum of the row, as the paper's
// experiments on homophilic datasets do. NormalizeFeatures of PyTorch Geometric does the same if the smallest number in
// the matrix is 0.
func RowNormalise(x []float32, columns int) {
	if columns <= 0 {
		return
	}
	for ; len(x) >= columns; x = x[columns:] {
		sum := 0.0
		for _, v := range x[:columns] {
			sum += float64(v)
		}
		if sum <= 1 {
			continue
		}
		for i := range columns {
			x[i] = float32(float64(x[i]) / sum)
		}
	}
}

// Validate checks a preparation that was read from a file.
func (p *Prepared) Validate() error {
	if p == nil {
		return nil
	}
	count := 0
	for k, f := range p.Columns {
		switch {
		case !slices.Contains([]string{Numbers, Booleans, Categories}, f.Kind):
			return fmt.Errorf("a column of the kind %q", f.Kind)
		case !(f.Std >= 0) || f.Kind != Numbers && f.Std > 0:
			return fmt.Errorf("a deviation of %v", f.Std)
		case !slices.IsSorted(f.Categories):
			return fmt.Errorf("categories of %q out of order", f.Name)
		}
		count += len(f.names(k))
	}
	widths := map[string]int{"none": 0, "constant": 1, "degree": 1, "laplacian": eigenvectors,
		"random-walk": walkSteps}
	width, known := widths[p.Structure]
	if p.Structure == "identity" && p.Graph != "" {
		width, known = len(p.Names)-count, true
	}
	if !known || width < 0 || count+width != len(p.Names) {
		return fmt.Errorf("%d names for %d features of columns and the structure %q", len(p.Names), count, p.Structure)
	}
	return nil
}
