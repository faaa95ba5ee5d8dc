package datasets

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// folderGraph reads a user's graph from two CSV files.
//
// nodes.csv has a header and the columns id (any text, unique), label (a class number from 0, or a name; names are
// numbered in alphabetical order; empty if unknown; optional), split (train, val, test or empty; optional, else the
// [PaperSplits] of labelled nodes), and features, which are numbers.
//
// edges.csv has two columns of ids; a first row that has neither an id nor a number is a header. Edges are undirected;
// repeated ones and self loops are dropped. directed_edges.csv, in its place, has edges from the first id to the
// second.
func folderGraph(dir string) (*graphs.Graph, error) {
	nodes, err := readCSV(dir, "nodes.csv", parseNodes)
	if err != nil {
		return nil, err
	}
	name, directed, err := edgeFile(dir)
	if err != nil {
		return nil, err
	}
	edges, err := readCSV(dir, name, func(r *rows) ([]graphs.Edge, error) {
		return parseEdges(r, nodes.ids)
	})
	if err != nil {
		return nil, err
	}
	g, err := nodes.graph(dir, edges)
	if err == nil && directed {
		g, err = withDirections(g, edges)
	}
	return g, err
}

// edgeFile is the name of the file with the edges.
func edgeFile(dir string) (name string, directed bool, err error) {
	const plain, arcs = "edges.csv", "directed_edges.csv"
	has := func(name string) bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil }
	switch {
	case !has(arcs):
		return plain, false, nil
	case has(plain):
		return "", false, fmt.Errorf("the dataset folder %s has both %s and %s; leave the one that holds its edges",
			dir, plain, arcs)
	}
	return arcs, true, nil
}

type nodeTable struct {
	ids         map[string]int32
	names       []string // the ids, in order
	labels      []string // "" for a node without a label
	features    []float32
	columns     []string // the features' names
	numFeatures int
	splits      []string // nil without a split column
}

func parseNodes(r *rows) (*nodeTable, error) {
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("cannot read the header (%w); "+
			"the first line must name the columns id, label and the features", err)
	}
	c, err := nodeColumns(slices.Clone(header))
	if err != nil {
		return nil, err
	}
	t := &nodeTable{ids: map[string]int32{}, numFeatures: len(c.features)}
	for _, i := range c.features {
		t.columns = append(t.columns, strings.TrimSpace(strings.TrimPrefix(c.names[i], "\ufeff")))
	}
	for {
		row, err := r.Read()
		if err == io.EOF {
			return t, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read a row (%w)", err)
		}
		line, _ := r.FieldPos(0)
		if err := t.add(c, row, line); err != nil {
			return nil, err
		}
	}
}

// unknownMarks are texts that other programs write for an unknown value; as a label they are refused, since they would
// count as a class.
var unknownMarks = []string{"na", "n/a", "nan", "null", "none", "?"}

// columns has the positions of label and split, -1 if absent, and all names of the header.
type columns struct {
	id, label, split int
	features         []int
	names            []string
}

func nodeColumns(names []string) (c columns, err error) {
	c = columns{id: -1, label: -1, split: -1, names: names}
	for i, name := range names {
		var to *int
		switch name = clean(name); name {
		case "id":
			to = &c.id
		case "label":
			to = &c.label
		case "split":
			to = &c.split
		case "":
			return c, fmt.Errorf("column %d of the header has no name: name it, or leave it out (pandas writes its index "+
				"there: use to_csv(index=False))", i+1)
		default:
			c.features = append(c.features, i)
			continue
		}
		if *to >= 0 {
			return c, fmt.Errorf("the header names the column %q twice", name)
		}
		*to = i
	}
	if c.id < 0 {
		return c, fmt.Errorf("the header needs the column id, and for training label, it has %q",
			truncate(strings.Join(names, ",")))
	}
	return c, nil
}

// add adds the node of a row. It copies what it keeps, since the reader's strings are parts of a long one.
func (t *nodeTable) add(c columns, row []string, line int) error {
	key := strings.TrimSpace(row[c.id])
	if _, twice := t.ids[key]; twice {
		return fmt.Errorf("line %d: the id %q stands there twice", line, truncate(key))
	}
	key = strings.Clone(key)
	t.ids[key] = int32(len(t.ids))
	t.names = append(t.names, key)
	if err := checkNodes(len(t.ids)); err != nil {
		return err
	}
	label := ""
	if c.label >= 0 {
		label = strings.Clone(strings.TrimSpace(row[c.label]))
	}
	if slices.Contains(unknownMarks, strings.ToLower(label)) {
		return fmt.Errorf("line %d: the label is %q: leave it empty where the class is not known, "+
			"and give a class of that name another one", line, label)
	}
	t.labels = append(t.labels, label)
	if c.split >= 0 {
		t.splits = append(t.splits, strings.Clone(strings.ToLower(strings.TrimSpace(row[c.split]))))
	}
	for _, i := range c.features {
		v, err := strconv.ParseFloat(strings.TrimSpace(row[i]), 32)
		if err != nil {
			return fmt.Errorf("line %d: the feature %q is %q, which is not a number that fits; "+
				"features must be finite numbers", line, truncate(c.names[i]), truncate(row[i]))
		}
		t.features = append(t.features, float32(v))
	}
	return nil
}

// clean is a column's name in lower case, without spaces and byte order mark.
func clean(name string) string {
	return strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")))
}

func parseEdges(r *rows, ids map[string]int32) ([]graphs.Edge, error) {
	r.FieldsPerRecord = 2
	var edges []graphs.Edge
	for first := true; ; first = false {
		row, err := r.Read()
		if err == io.EOF {
			return edges, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read a row (%w); each row needs two node ids", err)
		}
		var e graphs.Edge
		missing := 0
		for k := range e {
			var ok bool
			if e[k], ok = ids[strings.TrimSpace(strings.TrimPrefix(row[k], "\ufeff"))]; !ok {
				missing++
			}
		}
		if first && missing == 2 && !isNumber(row[0]) && !isNumber(row[1]) {
			continue // the first row is a header
		}
		if missing > 0 {
			line, _ := r.FieldPos(0)
			return nil, fmt.Errorf("line %d joins %q and %q, but nodes.csv does not list both",
				line, truncate(row[0]), truncate(row[1]))
		}
		edges = append(edges, e)
	}
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(clean(s), 64)
	return err == nil
}

func (t *nodeTable) graph(dir string, edges []graphs.Edge) (*graphs.Graph, error) {
	n := len(t.labels)
	values, names := labelNumbers(t.labels)
	labels, classes, err := classNumbers(values, func(i int) bool { return t.labels[i] == "" })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, "nodes.csv"), err)
	}
	splits := []graphs.Split{{Train: make([]bool, n), Val: make([]bool, n), Test: make([]bool, n)}}
	for i, name := range t.splits {
		switch name {
		case "train":
			splits[0].Train[i] = true
		case "val", "valid", "validation":
			splits[0].Val[i] = true
		case "test":
			splits[0].Test[i] = true
		case "":
		default:
			return nil, fmt.Errorf("%s: the split of row %d is %q; it must be train, val, test or empty",
				filepath.Join(dir, "nodes.csv"), i+1, truncate(name))
		}
	}
	if t.splits == nil {
		splits = labelledSplits(labels)
	}
	g, err := graphs.New(dir, n, edges, t.features, t.numFeatures, labels, classes, splits)
	if err == nil {
		g.IDs, g.ClassNames, g.FeatureNames = t.names, names, t.columns
	}
	return wrap(dir)(g, err)
}

// labelNumbers are class numbers: the labels themselves if all are whole numbers (names is nil), else places of the
// names in alphabetical order. An empty label gets a number without meaning.
func labelNumbers(labels []string) (values []int64, names []string) {
	values = make([]int64, len(labels))
	numeric := true
	for i, l := range labels {
		v, err := strconv.ParseInt(l, 10, 64)
		values[i] = v
		numeric = numeric && (err == nil || l == "")
	}
	if numeric {
		return values, nil
	}
	names = slices.Compact(slices.SortedFunc(slices.Values(labels), cmp.Compare[string]))
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	number := map[string]int64{}
	for i, name := range names {
		number[name] = int64(i)
	}
	for i, l := range labels {
		values[i] = number[l]
	}
	return values, names
}
