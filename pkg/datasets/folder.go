package datasets

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/npz"
)

// Largest file and row in bytes; a row of commas takes twenty times its bytes in memory.
const (
	maxCSVBytes = 1 << 30
	maxRowBytes = 4 << 20
)

// folderGraph reads a user's graph from two tables.
//
// nodes.csv, in UTF-8, has a header and the columns id (any text, unique), label (a class number from 0, or a name;
// names are numbered in alphabetical order; empty if unknown; optional), split (train, val, test or empty; or true and
// false in train_mask, val_mask and test_mask; optional, else [labelledSplits]), and features:
// finite numbers, or else a [graphs.Column], where a text of [unknownMarks] or none at all is a missing value.
//
// edges.csv has two columns of ids; a first row that has neither an id nor a number is a header. It may name the
// columns [edgeColumns], in any order, and others, which are not used; without these names, the first two are ids.
// Edges are undirected; repeated ones and self loops are dropped. directed_edges.csv, in its place, has edges from the
// first id to the second. A column of weights has positive numbers. In place of either, edges.npz or directed_edges.npz
// may have a sparse matrix of SciPy. Tables may be compressed (.csv.gz), and separated by semicolons or tabs.
func folderGraph(dir string) (*graphs.Graph, error) {
	nodes, err := one(dir, "nodes.csv", "nodes.csv.gz")
	if err != nil {
		return nil, err
	}
	var t *nodeTable
	var edges []graphs.Edge
	var weights []float32
	var notes []string
	if err := readCSV(nodes, func(r rows) { t = parseNodes(r) }); err != nil {
		return nil, err
	}
	if len(t.raw) > 0 {
		if err := readCSV(nodes, func(r rows) { t.parseColumns(r) }); err != nil {
			return nil, err
		}
	}
	const arcs = "directed_edges"
	ends, err := one(dir, "edges.csv", "edges.csv.gz", "edges.npz", arcs+".csv", arcs+".csv.gz", arcs+".npz")
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(ends, ".npz") {
		var z *npz.File
		if z, err = npz.Open(ends); err != nil {
			return nil, err
		}
		defer z.Close()
		edges, weights, err = sparseEdges(z, len(t.ids))
	} else {
		err = readCSV(ends, func(r rows) { edges, weights, notes = parseEdges(r, t.numbers) })
	}
	if err != nil {
		return nil, err
	}
	g, err := t.joined(dir, edges, weights, strings.HasPrefix(filepath.Base(ends), arcs))
	if err != nil {
		return nil, err
	}
	for _, note := range t.notes {
		g.Notes = append(g.Notes, fmt.Sprintf("%s: %s", nodes, note))
	}
	for _, note := range notes {
		g.Notes = append(g.Notes, fmt.Sprintf("%s: %s", ends, note))
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		other := filepath.Join(dir, e.Name())
		if other != nodes && other != ends && !strings.HasPrefix(e.Name(), ".") {
			g.Notes = append(g.Notes, fmt.Sprintf("%s is not used", other))
		}
	}
	return g, err
}

// one is the path of the only one of these files that the folder has; the first is the usual one.
func one(dir string, names ...string) (string, error) {
	found := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return errors.Is(err, fs.ErrNotExist)
	})
	switch len(found) {
	case 0:
		return "", fmt.Errorf("the dataset folder %s has no %s; it needs edges.csv and nodes.csv", dir, names[0])
	case 1:
		return filepath.Join(dir, found[0]), nil
	}
	return "", fmt.Errorf("the dataset folder %s has both %s and %s; leave the one that is meant", dir, found[0], found[1])
}

// readCSV hands the rows of a CSV file, which gzip may have compressed, to parse, which may refuse them.
func readCSV(path string, parse func(rows)) (err error) {
	f, size, err := files.Open(path, "a CSV file")
	if err != nil {
		return err
	}
	defer f.Close()
	if size > maxCSVBytes {
		return fmt.Errorf("%s has %d bytes, more than the limit of %d; save it as .npz instead", path, size, maxCSVBytes)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}()
	defer returned(&err)
	in := io.Reader(f)
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			return fmt.Errorf("gzip cannot unpack it (%w): compress it again, or take .gz from its name", err)
		}
		size *= 10 // tables of numbers are compressed to a fifth or so
	}
	if err := machine.Room(2 * size); err != nil { // The two bytes "1," of the file become a number of four bytes.
		return err
	}
	parse(newRows(&limited{in, maxCSVBytes}))
	return nil
}

// limited is a reader of at most so many bytes; more are an error.
type limited struct {
	io.Reader
	left int64
}

func (l *limited) Read(b []byte) (n int, err error) {
	if l.left < 0 {
		return 0, fmt.Errorf("it has more than %d bytes unpacked: save it as .npz instead", maxCSVBytes)
	}
	n, err = l.Reader.Read(b[:min(int64(len(b)), l.left+1)])
	l.left -= int64(n)
	return n, err
}

// rows reads a CSV file row by row, into the same slice; a row longer than maxRowBytes is an error.
type rows struct {
	*csv.Reader
	pieces *files.Pieces
	// headed tables surely begin with a header.
	headed bool
}

func newRows(in io.Reader) rows {
	const mark = "\ufeff" // Excel's byte order mark
	text := bufio.NewReader(in)
	if first, _ := text.Peek(len(mark)); string(first) == mark {
		text.Discard(len(mark))
	}
	if first, _ := text.Peek(2); string(first) == "\x1f\x8b" {
		refuse("it is compressed by gzip, and its name does not say so, or twice: unpack it")
	}
	header, _ := text.Peek(text.Size())
	header, _, lines := bytes.Cut(header, []byte("\n"))
	if !lines && bytes.ContainsRune(header, '\r') {
		refuse("its lines end in carriage returns alone: save it with the line ends of Linux or Windows")
	}
	// Semicolons and tabs separate fields if the header has no comma.
	p := files.NewPieces(text, maxRowBytes)
	r := rows{Reader: csv.NewReader(p), pieces: p}
	for _, other := range ";\t" {
		if !bytes.ContainsRune(header, ',') && bytes.ContainsRune(header, other) {
			r.Comma = other
		}
	}
	r.ReuseRecord = true
	return r
}

// Read refuses what is not UTF-8, since names must come out as they went in.
func (r rows) Read() ([]string, error) {
	r.pieces.Next()
	row, err := r.Reader.Read()
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &corrupt) {
		refuse("gzip cannot unpack it to its end (%w): it is damaged or cut short, so fetch or compress it again", err)
	}
	for i, field := range row {
		if !utf8.ValidString(field) {
			line, _ := r.FieldPos(i)
			refuse("line %d is not UTF-8 (%q): save the file as UTF-8", line, truncate(field))
		}
	}
	return row, err
}

// rest are the rows that follow, by their lines.
func (r rows) rest(needed string) iter.Seq2[int, []string] {
	return func(yield func(int, []string) bool) {
		for {
			row, err := r.Read()
			if err == io.EOF {
				return
			}
			if err != nil {
				refuse("cannot read a row (%w); each row needs %s", err, needed)
			}
			if line, _ := r.FieldPos(0); !yield(line, row) {
				return
			}
		}
	}
}

type nodeTable struct {
	numbers  map[string]int32 // of nodes by their ids
	ids      []string
	labels   []string // "" for a node without a label
	splits   []string // nil without a split column
	features []string // the names of those that are numbers
	values   []float32
	raw      []int // places in the header of columns that are not, which a second pass reads
	columns  []graphs.Column
	notes    []string
}

var parts = [3]string{"train", "val", "test"} // of a split

// unknownMarks are texts, in lower case, that other programs write for an unknown value; as a label they are refused,
// since they would count as a class.
var unknownMarks = []string{"na", "n/a", "nan", "null", "none", "?"}

func isUnknown(text string) bool {
	return text == "" || slices.Contains(unknownMarks, strings.ToLower(text))
}

var (
	// indexColumn is the name of a column of row numbers that pandas reads without one.
	indexColumn = regexp.MustCompile(`^unnamed: [0-9]+$`)
	// labelColumns are almost label.
	labelColumns = []string{"labels", "lable", "lables", "node_label", "node_labels"}
	// maskColumn is a name that is almost one of a mask.
	maskColumn = regexp.MustCompile(`^(i[sn][_ -]?(train|val|valid|validation|test)|` +
		`(train|val|valid|validation|test)[_ -]?(mask|masks|idx|set))$`)
)

func parseNodes(r rows) *nodeTable {
	header, err := r.Read()
	if err != nil {
		refuse("cannot read the header (%w); the first line must name the columns id, label and the features", err)
	}
	t := &nodeTable{numbers: map[string]int32{}}
	special := map[string]int{} // the columns id, label and split
	var features []int
	named := func(key string) bool {
		return slices.ContainsFunc(header, func(name string) bool { return clean(name) == key })
	}
	for i, name := range header {
		key := clean(name)
		switch { // names that DGL has
		case key == "valid_mask":
			key = "val_mask"
		case key == "node_id" && !named("id"):
			key = "id"
		}
		_, twice := special[key]
		switch key {
		case "id", "label", "split", "train_mask", "val_mask", "test_mask":
			if twice {
				refuse("the header names the column %q twice", key)
			}
			special[key] = i
		case "":
			refuse("column %d of the header has no name: name it, or leave it out (pandas writes its index there: use "+
				"to_csv(index=False))", i+1)
		default:
			split := slices.Contains(parts[:], key) && named("train") && named("test")
			switch {
			case indexColumn.MatchString(key):
				refuse("the column %q is an index that pandas wrote, which says nothing about a node: leave it out",
					truncate(name))
			case maskColumn.MatchString(key) || split:
				refuse("the header has a column %q; is it a mask of the split? Call the masks train_mask, val_mask "+
					"and test_mask, or leave it out", truncate(name))
			case !named("label") && slices.Contains(labelColumns, key):
				refuse(`the header has a column %q; is it "label"? Give it this name, or leave it out`, truncate(name))
			case !named("label") && slices.Contains([]string{"y", "class", "target"}, key):
				t.notes = append(t.notes, fmt.Sprintf("the column %q is read as a feature; call it label if it has "+
					"the classes", truncate(name)))
			}
			features = append(features, i)
			name := strings.Clone(strings.TrimSpace(name))
			if slices.Contains(t.features, name) {
				t.notes = append(t.notes, fmt.Sprintf("two columns are named %q", truncate(name)))
			}
			t.features = append(t.features, name)
		}
	}
	other := make([]bool, len(features)) // columns in which a field is not a number
	masked := 0
	for _, part := range parts {
		if _, has := special[part+"_mask"]; has {
			masked++
		}
	}
	if _, has := special["split"]; masked > 0 && (has || masked < len(parts)) {
		refuse("the header needs either the column split, or all of train_mask, val_mask and test_mask")
	}
	if _, has := special["id"]; !has {
		refuse("the header needs the column id, and for training label, it has %q: rename the column that names the nodes",
			truncate(strings.Join(header, ",")))
	}
	if _, has := special["label"]; !has && len(t.notes) == 0 {
		t.notes = append(t.notes, "no column is called label, so that no node has a class")
	}
	for line, row := range r.rest("as many fields as the header") {
		// What is kept is copied, since the reader's strings are parts of a long one.
		text := func(column string) (text string, has bool) {
			i, has := special[column]
			if has {
				text = strings.Clone(strings.TrimSpace(row[i]))
			}
			return text, has
		}
		id, _ := text("id")
		if id == "" {
			refuse("line %d: the id is empty: give each node one", line)
		}
		if _, twice := t.numbers[id]; twice {
			refuse("line %d: the id %q stands there twice", line, truncate(id))
		}
		t.numbers[id] = int32(len(t.ids))
		t.ids = append(t.ids, id)
		if err := checkNodes(len(t.ids)); err != nil {
			refuse("%w", err)
		}
		label, _ := text("label")
		if label != "" && isUnknown(label) {
			refuse("line %d: the label is %q: leave it empty where the class is not known, and give a class of that name "+
				"another one", line, label)
		}
		t.labels = append(t.labels, label)
		split, has := text("split")
		for _, part := range parts[:masked] {
			mask, _ := text(part + "_mask")
			in, err := strconv.ParseBool(wholeNumber.ReplaceAllString(mask, "$1")) // as pandas and R write them
			switch {
			case err != nil:
				refuse("line %d: %s_mask is %q; it must be true or false, or 1 or 0", line, part, truncate(mask))
			case in && split != "":
				refuse("line %d: the node is in two masks, of %s and of %s", line, split, part)
			case in:
				split = part
			}
		}
		if has || masked > 0 {
			t.splits = append(t.splits, strings.ToLower(split))
		}
		for k, i := range features {
			v, ok := graphs.Number(strings.TrimSpace(row[i]))
			other[k] = other[k] || !ok
			t.values = append(t.values, v)
		}
	}
	t.leave(features, other)
	for k, name := range t.features {
		const few = 10 // nodes: their features may happen to be numbered
		n := len(t.ids)
		value := func(i int) float32 { return t.values[i*len(t.features)+k] }
		counts, numbers := n >= few, n >= few
		for i := 0; counts && i < n; i++ {
			counts = value(i) == value(0)+float32(i)
		}
		if counts {
			refuse("the column %q counts the rows, which says nothing about a node: leave it out", truncate(name))
		}
		seen := map[float32]bool{}
		for i := 0; numbers && i < n; i++ {
			v := value(i)
			numbers = v >= 0 && v <= float32(n) && v == float32(int(v)) && !seen[v]
			seen[v] = true
		}
		if numbers {
			t.notes = append(t.notes, fmt.Sprintf("the column %q numbers the nodes in another order; leave it out "+
				"unless this order says something", truncate(name)))
		}
	}
	return t
}

// leave takes the columns that are not all numbers, by their places in the header, out of the features.
func (t *nodeTable) leave(places []int, other []bool) {
	if !slices.Contains(other, true) {
		return
	}
	all, names := t.values, t.features
	t.values, t.features = nil, nil
	for k, i := range places {
		if other[k] {
			t.raw = append(t.raw, i)
		} else {
			t.features = append(t.features, names[k])
		}
	}
	t.values = make([]float32, 0, len(t.ids)*len(t.features))
	for row := range slices.Chunk(all, len(names)) {
		for k, v := range row {
			if !other[k] {
				t.values = append(t.values, v)
			}
		}
	}
}

// parseColumns reads the columns that are not all numbers as texts, in a second pass over the file, since most files
// have none.
func (t *nodeTable) parseColumns(r rows) {
	header, err := r.Read()
	if err != nil || len(header) <= slices.Max(t.raw) {
		refuse("it changed while it was read")
	}
	places := make([]map[string]int32, len(t.raw)) // of texts, by their first lines
	lines := make([][]int, len(t.raw))
	for k, i := range t.raw {
		places[k] = map[string]int32{}
		t.columns = append(t.columns, graphs.Column{Name: strings.Clone(strings.TrimSpace(header[i]))})
	}
	for line, row := range r.rest("as many fields as the header") {
		for k, i := range t.raw {
			c, text := &t.columns[k], strings.TrimSpace(row[i])
			if isUnknown(text) {
				if c.Line == 0 {
					c.Line = line
				}
				c.Codes = append(c.Codes, graphs.Missing)
				continue
			}
			code, known := places[k][text]
			if !known {
				text, code = strings.Clone(text), int32(len(c.Values))
				places[k][text] = code
				c.Values, lines[k] = append(c.Values, text), append(lines[k], line)
			}
			c.Codes = append(c.Codes, code)
		}
	}
	for k := range t.columns {
		c := &t.columns[k]
		if len(c.Codes) != len(t.ids) {
			refuse("it changed while it was read")
		}
		counts := make([]int, len(c.Values))
		for _, code := range c.Codes {
			if code != graphs.Missing {
				counts[code]++
			}
		}
		numbers, texts, bad, lists := 0, 0, -1, true
		for code, text := range c.Values {
			_, number := graphs.Number(text)
			if code01 := len(text) > 1 && text[0] == '0' && text[1] != '.'; number && !code01 {
				numbers += counts[code]
				continue
			}
			if texts += counts[code]; bad < 0 && !number {
				bad = code
			}
			lists = lists && (number || severalNumbers(text))
		}
		if bad >= 0 && lists {
			refuse("line %d: the feature %q is %q: write one number with a decimal point and without commas or "+
				"spaces, as 1200.5, and give each number of a list a column", lines[k][bad], truncate(c.Name),
				truncate(c.Values[bad]))
		}
		if bad >= 0 && numbers >= texts {
			refuse("line %d: the feature %q is %q, which is not a number that fits, as %d others of its column are: "+
				"mend it, or leave it empty where it is not known",
				lines[k][bad], truncate(c.Name), truncate(c.Values[bad]), numbers)
		}
		sorted := slices.Sorted(slices.Values(c.Values))
		at := make([]int32, len(sorted)) // of texts by their first lines, in the order
		for place, text := range sorted {
			at[places[k][text]] = int32(place)
		}
		for i, code := range c.Codes {
			if code != graphs.Missing {
				c.Codes[i] = at[code]
			}
		}
		c.Values = sorted
	}
}

// severalNumbers tells whether a text is numbers with commas, spaces or apostrophes between them: a list, or a number
// with a decimal comma or with its thousands set apart.
func severalNumbers(text string) bool {
	pieces := strings.FieldsFunc(strings.Trim(text, "[]()"), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(",'\u2019", r)
	})
	return len(pieces) > 1 && !slices.ContainsFunc(pieces, func(piece string) bool {
		_, number := graphs.Number(piece)
		return !number
	})
}

// clean is a column's name in lower case, without spaces.
func clean(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// sparseEdges reads a sparse matrix [n, n] that scipy.sparse.save_npz wrote of a CSR matrix. An entry (i, j) is an edge
// from i to j, nodes in the order of their table. weights are the entries, or nil if all are 1; zeros are no edges.
func sparseEdges(z *npz.File, n int) (edges []graphs.Edge, weights []float32, err error) {
	defer returned(&err)
	if !z.Has("format") || must(z.Text("format")) != "csr" {
		refuse("%s is not a CSR matrix of SciPy: write it by scipy.sparse.save_npz(path, matrix.tocsr())", z.Path)
	}
	m, err := newCSR(values(z.Int64s("shape", 1)), values(z.Int64s("indptr", 1)), values(z.Int64s("indices", 1)),
		values(z.Float32s("data", 1)))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: the matrix %w", z.Path, err)
	}
	if m.rows != n || m.columns != n {
		refuse("%s is a matrix of shape [%d %d], but the table has %d nodes", z.Path, m.rows, m.columns, n)
	}
	weighted := false
	m.each(func(row, column int, weight float32) {
		if weight != 0 {
			edges, weights = append(edges, graphs.Edge{int32(row), int32(column)}), append(weights, weight)
			weighted = weighted || weight != 1
		}
	})
	if !weighted {
		weights = nil
	}
	return edges, weights, nil
}

// edgeColumns are the names of the columns of edges.csv, as NetworkX, PyTorch Geometric, DGL, Gephi and others have
// them: the first id, the second id and the weight.
var edgeColumns = [3][]string{{"source", "src", "src_id", "from", "u"},
	{"target", "dst", "dst_id", "destination", "to", "v"}, {"weight", "weights", "edge_weight", "edge_weights", "w"}}

// parseEdges reads the rows of edges.csv. weights is nil without a column of weights; notes say what is not used.
func parseEdges(r rows, numbers map[string]int32) (edges []graphs.Edge, weights []float32, notes []string) {
	isNumber := func(s string) bool { _, err := strconv.ParseFloat(clean(s), 64); return err == nil }
	at := [3]int{0, 1, -1} // the columns of the ids and of the weight, if there is one
	first := true
	for line, row := range r.rest("two node ids, and a weight if the header names one") {
		if first && len(row) < 2 {
			refuse("line %d has one field; each row needs two node ids with a comma between them", line)
		}
		one, isOne := numbers[strings.TrimSpace(row[at[0]])]
		two, isTwo := numbers[strings.TrimSpace(row[at[1]])]
		if first && (r.headed || !isOne && !isTwo && !isNumber(row[0]) && !isNumber(row[1])) {
			at, notes = edgeHeader(row)
			first = false
			continue
		}
		if first && len(row) > 2 {
			refuse("line %d has %d fields, and no header says what they are: begin with the line source,target,weight", line,
				len(row))
		}
		first = false
		if !isOne || !isTwo {
			refuse("line %d joins %q and %q, but nodes.csv does not list both", line, truncate(row[at[0]]),
				truncate(row[at[1]]))
		}
		edges = append(edges, graphs.Edge{one, two})
		if at[2] < 0 {
			continue
		}
		w, err := strconv.ParseFloat(strings.TrimSpace(row[at[2]]), 32)
		if err != nil || !(w > 0) || w > math.MaxFloat32 {
			refuse("line %d: the weight is %q; it must be a positive number: leave out edges of weight 0", line,
				truncate(row[at[2]]))
		}
		weights = append(weights, float32(w))
	}
	return edges, weights, notes
}

// edgeHeader finds [edgeColumns] in the header of edges.csv. The notes name the columns that are none of them, and say
// if the header may be none.
func edgeHeader(header []string) (at [3]int, notes []string) {
	at = [3]int{-1, -1, -1}
	var others []int
	for i, name := range header {
		known := false
		for k, names := range edgeColumns {
			if !slices.Contains(names, clean(name)) {
				continue
			}
			if known = true; at[k] >= 0 {
				refuse("the header names both %q and %q; leave the column that is meant", truncate(header[at[k]]), truncate(name))
			}
			at[k] = i
		}
		if !known {
			others = append(others, i)
		}
	}
	if at[0] < 0 && at[1] < 0 { // whatever the first two are called, but for numbers of rows
		var ends []int
		id := false
		for _, i := range others {
			key := clean(header[i])
			if !slices.Contains([]string{"", "index", "edge_id"}, key) && !indexColumn.MatchString(key) {
				ends, id = append(ends, i), id || key == "id"
			}
		}
		if len(ends) > 1 && (len(ends) == 2 || !id) && (at[2] < 0 || at[2] > ends[1]) {
			at[0], at[1] = ends[0], ends[1]
			notes = append(notes, fmt.Sprintf("line 1 (%s) is read as a header, since no node is called so",
				truncate(strings.Join(header, ","))))
		}
	}
	for _, i := range others {
		if i != at[0] && i != at[1] {
			notes = append(notes, fmt.Sprintf("the column %q is not used", truncate(header[i])))
		}
	}
	if at[0] < 0 || at[1] < 0 {
		refuse("the header %q does not say which columns are the two ends of an edge: call them source and target",
			truncate(strings.Join(header, ",")))
	}
	return at, notes
}

// joined is the graph of the nodes and of edges with weights or nil.
func (t *nodeTable) joined(name string, edges []graphs.Edge, weights []float32, directed bool) (*graphs.Graph, error) {
	g, err := t.graph(name, edges)
	if err == nil && directed {
		g, err = withDirections(g, edges)
	}
	if err == nil && weights != nil {
		g, err = g.WithWeights(edges, weights)
	}
	return g, err
}

func (t *nodeTable) graph(dir string, edges []graphs.Edge) (*graphs.Graph, error) {
	n := len(t.labels)
	numbers, names, err := labelNumbers(t.labels)
	var labels []int32
	classes := 0
	if err == nil {
		labels, classes, err = classNumbers(numbers, noneUnknown)
	}
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
	var notes []string
	if t.splits == nil {
		splits, notes = labelledSplits(labels, classes)
	}
	g, err := graphs.New(dir, n, edges, t.values, len(t.features), labels, classes, splits)
	if err == nil {
		g.IDs, g.ClassNames, g.FeatureNames, g.Columns, g.Notes = t.ids, names, t.features, t.columns, notes
	}
	return wrap(dir)(g, err)
}

// wholeNumber is a label as pandas writes a column of whole numbers in which some are missing.
var wholeNumber = regexp.MustCompile(`^([0-9]+)\.0$`)

// labelNumbers are class numbers: the labels themselves if all are whole numbers, also with .0 behind each (names is
// nil), else places of the names in alphabetical order; noneUnknown for an empty label. Codes such as 01 are names,
// since they are not written as the number is. Decimals are refused.
func labelNumbers(labels []string) (numbers []int64, names []string, err error) {
	names = slices.Compact(slices.Sorted(slices.Values(labels)))
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	if !slices.ContainsFunc(names, func(name string) bool { return !wholeNumber.MatchString(name) }) {
		labels, names = slices.Clone(labels), slices.Clone(names)
		for _, list := range [][]string{labels, names} {
			for i, text := range list {
				list[i] = wholeNumber.ReplaceAllString(text, "$1")
			}
		}
	}
	decimal, numeric := "", true
	for _, name := range names {
		v, err := strconv.ParseFloat(name, 64)
		if numeric = numeric && err == nil; err == nil && v != math.Trunc(v) {
			decimal = name
		}
	}
	if numeric && decimal != "" {
		return nil, nil, fmt.Errorf("the label %q is a decimal, and all labels are numbers: "+notRegression+"; names "+
			"of classes need a letter", decimal)
	}
	textual := slices.ContainsFunc(names, func(name string) bool {
		number, err := strconv.ParseInt(name, 10, 64)
		return err != nil || strconv.FormatInt(number, 10) != name
	})
	for _, l := range labels {
		number := int64(noneUnknown)
		if textual && l != "" {
			at, _ := slices.BinarySearch(names, l)
			number = int64(at)
		} else if l != "" {
			number, _ = strconv.ParseInt(l, 10, 64)
		}
		numbers = append(numbers, number)
	}
	if !textual {
		names = nil
	}
	return numbers, names, nil
}
