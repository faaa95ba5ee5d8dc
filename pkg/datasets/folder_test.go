package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// folder writes a dataset folder and returns its path. A file with empty content is not written.
func folder(t *testing.T, nodes, edges string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"nodes.csv": nodes, "edges.csv": edges} {
		if content != "" {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func TestFolder(t *testing.T) {
	dir := folder(t, "\ufeffID, age,label,height\nann,1,cat,2.5\nbob,2,ant,-1e3\n\"c,d\",3,cat,0\n",
		"from,to\nann,bob\r\n\"c,d\",ann\nann,ann\nbob,ann\n")
	g, err := Load(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(g.Edges, []graphs.Edge{{0, 1}, {0, 2}}) ||
		!slices.Equal(g.Features, []float32{1, 2.5, 2, -1000, 3, 0}) ||
		!slices.Equal(g.Labels, []int32{1, 0, 1}) || g.NumClasses != 2 || g.NumFeatures != 2 ||
		len(g.Splits) != 10 || g.Name != dir {
		t.Errorf("got %+v", g)
	}
}

func TestFolderWithItsOwnSplitAndNumbers(t *testing.T) {
	dir := folder(t, "id,label,split\n10,2,train\n20,0,Val\n30,1,test\n40,1,\n", "10,20\n30,40\n")
	g, err := Load(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(g.Edges, []graphs.Edge{{0, 1}, {2, 3}}) || !slices.Equal(g.Labels, []int32{2, 0, 1, 1}) ||
		g.NumClasses != 3 || g.NumFeatures != 0 {
		t.Errorf("got %+v", g)
	}
	s := g.Splits[0]
	if len(g.Splits) != 1 || !s.Train[0] || !s.Val[1] || !s.Test[2] || s.Train[3] || s.Val[3] || s.Test[3] {
		t.Errorf("splits %+v", g.Splits)
	}
}

// TestWeights reads the weights of edges with and without directions, from columns in any order.
func TestWeights(t *testing.T) {
	const nodes = "id,label\na,0\nb,1\nc,0\n"
	dir := folder(t, nodes, "when,weight,dst,src\n1,0.5,b,a\n2,2,c,b\n3,0.5,a,b\n4,7,c,c\n")
	g, err := Load(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(g.EdgeWeights, []float32{0.5, 2}) || len(g.Notes) != 1 ||
		!strings.Contains(g.Notes[0], `the column "when" is not used`) {
		t.Errorf("weights %v, notes %q", g.EdgeWeights, g.Notes)
	}
	dir = folder(t, nodes, "")
	arcs := "u,v,weight\na,b,1\nb,a,3\nb,c,2\nc,c,7\n"
	if err := os.WriteFile(filepath.Join(dir, "directed_edges.csv"), []byte(arcs), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Load(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.ArcWeights, []float32{1, 3, 2, 7}) || !slices.Equal(d.EdgeWeights, []float32{2, 2}) {
		t.Errorf("weights %v of arcs, %v of edges", d.ArcWeights, d.EdgeWeights)
	}
	sums := map[string]bool{}
	for _, g := range []*graphs.Graph{g, g.Unweighted(), d, d.Undirected(), d.Unweighted()} {
		if err := g.Validate(); err != nil {
			t.Error(err)
		}
		sums[g.Checksum()] = true
	}
	if len(sums) != 5 {
		t.Errorf("%d checksums of five graphs", len(sums))
	}
}

func TestBadFolders(t *testing.T) {
	good, edges := "id,label,x\na,0,1\nb,1,2\n", "a,b\n"
	for _, c := range []struct{ what, nodes, edges, want string }{
		{"no nodes", "", edges, "has no nodes.csv"},
		{"no edges", good, "", "has no edges.csv"},
		{"no header", "a,0,1\nb,1,2\n", edges, "needs the column id"},
		{"an index of pandas", ",id,label,x\n0,a,0,1\n1,b,1,2\n", edges, "column 1 of the header has no name"},
		{"two labels", "id,label,label\n", edges, `names the column "label" twice`},
		{"no rows", "id,label\n", "from,to\n", "without nodes"},
		{"id twice", "id,label\na,0\na,1\n", edges, `line 3: the id "a" stands there twice`},
		{"negative label", "id,label\na,0\nb,-1\n", edges, "label -1"},
		{"text feature", "id,label,x\na,0,1\nb,1,two\n", edges, `line 3: the feature "x" is "two"`},
		{"a mark for no label", "id,label,x\na,0,1\nb,NaN,1\n", edges, "leave it empty"},
		{"infinite feature", "id,label,x\na,0,1\nb,1,-inf\n", edges, `line 3: the feature "x" is "-inf"`},
		{"huge feature", "id,label,x\na,0,1e39\nb,1,2\n", edges, "not a number that fits"},
		{"short row", "id,label,x\na,0,1\nb,1\n", edges, "wrong number of fields"},
		{"unknown split", "id,label,split\na,0,train\nb,1,dev\n", edges, `the split of row 2 is "dev"`},
		{"unknown node", good, "a,b\nb,c\n", `line 2 joins "b" and "c"`},
		{"unknown numbers first", good, "7,8\n", `line 1 joins "7" and "8"`},
		{"one column", good, "a\n", "line 1 has one field"},
		{"a third column without a header", good, "a,b,1\n", "begin with the line source,target,weight"},
		{"no weight", good, "source,target,weight\na,b,\n", `line 2: the weight is ""; it must be a positive number`},
		{"a negative weight", good, "source,target,weight\na,b,-1\n", `line 2: the weight is "-1"`},
		{"two weights of an edge", good, "source,target,weight\na,b,1\nb,a,2\n",
			"the edge between b and a has two weights, 1 and 2"},
		{"two names of a column", good, "source,target,from\na,b,a\n", `names both "source" and "from"`},
		{"no target", good, "weight,source,end\n1,a,b\n", "call them source and target"},
		{"quote", good, "\"a,b\n", "cannot read a row"},
		{"Latin-1", "id,label\na,0\nb,m\xe2le\n", edges, `nodes.csv: line 3 is not UTF-8 ("m\xe2le")`},
		{"a header in Latin-1", "id,label,gr\xf6\xdfe\na,0,1\n", edges, "line 1 is not UTF-8"},
		{"UTF-16", "\xff\xfei\x00d\x00", edges, "line 1 is not UTF-8"},
		{"edges in Latin-1", good, "a,b\xe4\n", "edges.csv: line 1 is not UTF-8"},
		{"two masks of three", "id,label,train_mask,val_mask\na,0,1,0\nb,1,0,1\n", edges, "all of train_mask, val_mask"},
		{"masks beside a split", "id,split,train_mask,val_mask,test_mask\na,train,1,0,0\n", edges, "either the column split"},
		{"a mask of 2", "id,label,train_mask,val_mask,test_mask\na,0,1,0,0\nb,1,0,2,0\n", edges, `line 3: val_mask is "2"`},
		{"two masks at once", "id,label,train_mask,val_mask,test_mask\na,0,1,0,1\nb,1,0,1,0\n", edges,
			"line 2: the node is in two masks, of train and of test"},
		{"decimal labels", "id,label\na,0.5\nb,3.25\nc,2\n", edges, `the label "3.25" is a decimal`},
		{"a quantity", "id,label\n" + labelled(60), "n1,n2\n", "60 labelled nodes have 60 different labels"},
		{"a counter", "id,label,row\n" + counted(12), "n1,n2\n", `the column "row" counts the rows`},
		{"an index that pandas named", "Unnamed: 0,id,label\n4,a,0\n2,b,1\n", edges, `"Unnamed: 0" is an index`},
		{"an empty id", "id,label\na,0\n ,1\n", edges, "line 3: the id is empty"},
		{"almost masks", "id,label,train_masks,val_masks,test_masks\na,0,1,0,0\n", edges, `a column "train_masks"; is it`},
		{"one column of a mask", "id,label,is_train\na,0,1\nb,1,0\n", edges, `a column "is_train"; is it a mask`},
		{"masks without their names", "id,label,train,val,test\na,0,1,0,0\n", edges, `a column "train"; is it a mask`},
		{"almost labels", "id,labels\na,0\nb,1\n", edges, `a column "labels"; is it "label"?`},
		{"a mask of 0.5", "id,label,train_mask,val_mask,test_mask\na,0,0.5,0.0,0.0\n", edges, `train_mask is "0.5"`},
		{"decimal commas", "id;label;x\na;0;0,5\nb;1;7\nc;0;1,25\n", edges, `line 2: the feature "x" is "0,5": write one`},
		{"thousands", "id,label,x\na,0,\"1,200\"\nb,1,\"12,000.50\"\n", edges, `is "1,200": write one number`},
		{"thousands with spaces", "id,label,x\na,0,1\u202f200\nb,1,900\n", edges, `write one number`},
		{"lists", "id,label,x\na,0,\"[0.1, 2]\"\nb,1,\"[3, 4]\"\n", edges, "give each number of a list a column"},
		{"old line ends", strings.ReplaceAll(good, "\n", "\r"), edges, "carriage returns alone"},
		{"gzip under another name", "\x1f\x8b\b", edges, "nodes.csv: it is compressed by gzip"},
		{"an id of edges", good, "id,node1,node2\n1,a,b\n", "call them source and target"},
	} {
		_, err := Load(t.Context(), folder(t, c.nodes, c.edges), Options{})
		mustFail(t, c.what, err, c.want)
	}
}

// TestWellKnownNames reads columns that other programs name, and says what looks doubtful.
func TestWellKnownNames(t *testing.T) {
	dir := folder(t, "node_id,label,y,y,train_mask,valid_mask,test_mask\nsource,0,1,2,1.0,0.0,0.0\ntarget,1,1,2,0.0,1.0,0.0\n",
		"Unnamed: 0,one,two,since\n0,source,target,7\n")
	g, err := Load(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Edges) != 1 || len(g.Splits) != 1 || !g.Splits[0].Train[0] || !g.Splits[0].Val[1] {
		t.Errorf("got %+v", g)
	}
	in := filepath.Join(dir, "nodes.csv") + `: two columns are named "y"`
	of := filepath.Join(dir, "edges.csv") + ": "
	if want := []string{in, of + "line 1 (Unnamed: 0,one,two,since) is read as a header, since no node is called so",
		of + `the column "Unnamed: 0" is not used`, of + `the column "since" is not used`}; !slices.Equal(g.Notes, want) {
		t.Errorf("notes %q", g.Notes)
	}
	rows := ""
	for i := range 12 {
		rows += fmt.Sprintf("n%d,%d,7\n", i, 5*i%12)
	}
	if g, err = Load(t.Context(), folder(t, "id,index,target\n"+rows, "n1,n2\n"), Options{}); err != nil {
		t.Fatal(err)
	}
	if len(g.Notes) != 2 || !strings.Contains(g.Notes[0], `"target" is read as a feature; call it label`) ||
		!strings.Contains(g.Notes[1], `"index" numbers the nodes`) {
		t.Errorf("notes %q", g.Notes)
	}
}

// labelled returns rows of nodes with a label each.
func labelled(n int) (rows string) {
	for i := range n {
		rows += fmt.Sprintf("n%d,%d\n", i, i)
	}
	return rows
}

// counted returns rows of nodes with a label and the number of the row.
func counted(n int) (rows string) {
	for i := range n {
		rows += fmt.Sprintf("n%d,%d,%d\n", i, i%2, i+1)
	}
	return rows
}

// TestTextStays reads names that other programs change: after Excel's byte order mark, in quotes, or as codes that look
// like numbers.
func TestTextStays(t *testing.T) {
	dir := folder(t, "\ufeff\"id\",\"label\"\na,00\nb,01\nc,1\nd,\u00e4\n", "\ufeff\"from\",\"to\"\na,b\n")
	g, err := Load(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(g.Classes(), []string{"00", "01", "1", "\u00e4"}) || !slices.Equal(g.Labels, []int32{0, 1, 2, 3}) ||
		len(g.Edges) != 1 || g.ID(0) != "a" || g.Notes != nil {
		t.Errorf("got %+v", g)
	}
}

func TestMasksInColumnsAndOtherFiles(t *testing.T) {
	dir := folder(t, "id,label,x,train_mask,val_mask,test_mask\na,0,1,1,0,0\nb,1,2,False,True,False\nc,1,2,0,0,1\nd,1,2,0,0,0\n",
		"a,b\n")
	if err := os.WriteFile(filepath.Join(dir, "weights.csv"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	g, err := Load(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := g.Splits[0]
	if len(g.Splits) != 1 || !s.Train[0] || !s.Val[1] || !s.Test[2] || s.Train[3] || s.Val[3] || s.Test[3] ||
		!slices.Equal(g.FeatureNames, []string{"x"}) {
		t.Errorf("got %+v", g)
	}
	if want := filepath.Join(dir, "weights.csv") + " is not used"; !slices.Equal(g.Notes, []string{want}) {
		t.Errorf("notes %q", g.Notes)
	}
}

// TestWholeNumbersOfPandas reads labels as pandas writes whole numbers where some are missing. Others, such as
// versions, are names.
func TestWholeNumbersOfPandas(t *testing.T) {
	for labels, want := range map[string]struct {
		names []string
		codes []int32
	}{
		"1.0,,0.0,1.0": {[]string{"0", "1"}, []int32{1, graphs.Unlabelled, 0, 1}},
		"1.0,2,2,1.0":  {[]string{"1.0", "2"}, []int32{0, 1, 1, 0}},
		"v1.5,2,,2":    {[]string{"2", "v1.5"}, []int32{1, 0, graphs.Unlabelled, 0}},
	} {
		nodes := "id,label\n"
		for i, label := range strings.Split(labels, ",") {
			nodes += fmt.Sprintf("n%d,%s\n", i, label)
		}
		g, err := Load(t.Context(), folder(t, nodes, "n0,n1\n"), Options{})
		if err != nil || !slices.Equal(g.Classes(), want.names) || !slices.Equal(g.Labels, want.codes) {
			t.Errorf("%s: %+v, %v", labels, g, err)
		}
	}
}

// TestColumnsThatAreNotNumbers reads texts, booleans and missing values, each as it is in the file.
func TestColumnsThatAreNotNumbers(t *testing.T) {
	dir := folder(t, "id,city,label,age,member,code,x\na,Rome,0,1.50,yes,01,1\nb,\"Oslo, N\",1,NA,No,A7,2\n"+
		"c, Rome ,0,,TRUE,01,3\nd,?,1,7,no,B,4\n", "a,b\n")
	g, err := Load(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(g.FeatureNames, []string{"x"}) || !slices.Equal(g.Features, []float32{1, 2, 3, 4}) {
		t.Errorf("features %v of %v", g.Features, g.FeatureNames)
	}
	for k, want := range []struct {
		column graphs.Column
		kind   string
	}{
		{graphs.Column{Name: "city", Values: []string{"Oslo, N", "Rome"}, Codes: []int32{1, 0, 1, -1}, Line: 5},
			graphs.Categories},
		{graphs.Column{Name: "age", Values: []string{"1.50", "7"}, Codes: []int32{0, -1, -1, 1}, Line: 3},
			graphs.Numbers},
		{graphs.Column{Name: "member", Values: []string{"No", "TRUE", "no", "yes"}, Codes: []int32{3, 0, 1, 2}},
			graphs.Booleans},
		{graphs.Column{Name: "code", Values: []string{"01", "A7", "B"}, Codes: []int32{0, 1, 0, 2}}, graphs.Categories},
	} {
		if got := g.Columns[k]; !reflect.DeepEqual(got, want.column) || got.Kind() != want.kind {
			t.Errorf("got %+v (%s), want %+v", got, got.Kind(), want)
		}
	}
}

// TestFolderWithoutLabels reads folders in which some or all nodes have no label. The random splits must not contain
// nodes without a label. A graph in which no node has a label must be accepted, since a trained model can predict the
// classes. If nodes.csv itself puts a node without a label into the test set, the method Teaches of the graph must
// report this.
func TestFolderWithoutLabels(t *testing.T) {
	dir := folder(t, "id,label,x\na,cat,1\nb,,2\nc,ant,3\nd,,4\ne,cat,5\n", "a,b\n")
	g, err := Load(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(g.Labels, []int32{1, graphs.Unlabelled, 0, graphs.Unlabelled, 1}) || g.Labelled() != 3 ||
		!slices.Equal(g.Classes(), []string{"ant", "cat"}) || g.ID(3) != "d" ||
		!slices.Equal(g.FeatureNames, []string{"x"}) || len(g.Splits) != 10 {
		t.Errorf("got %+v", g)
	}
	for k, s := range g.Splits {
		if err := g.Teaches(k); err != nil || !(s.Train[0] || s.Val[0] || s.Test[0]) {
			t.Errorf("split %d: %+v, %v", k, s, err)
		}
	}
	for _, nodes := range []string{"id,x\na,1\nb,2\n", "id,label,x\na,,1\nb,,2\n"} {
		g, err := Load(t.Context(), folder(t, nodes, "a,b\n"), Options{})
		if err != nil || g.Labelled() != 0 || g.NumClasses != 0 || g.Splits != nil || g.ClassNames != nil {
			t.Errorf("got %+v, %v", g, err)
		}
	}
	g, err = Load(t.Context(), folder(t, "id,label,split\na,0,train\nb,,test\nc,1,\n", "a,b\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Teaches(0); err == nil || !strings.Contains(err.Error(), `node "b" is a test node of split 0`) {
		t.Errorf("got %v", err)
	}
}
