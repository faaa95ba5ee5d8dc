package nb

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/report"
)

// some is an example for the tests: two runs on a board of 3 x 3 cells. The second run is compared with the first.
var some = Runs{Metric: "ROC-AUC", Labels: []int32{0, 1, 0, 0, 0, 1, 1, 0, 0}, Runs: []Run{
	{Name: "GCN", Forward: 8, Val: 0.625, Test: 0.5, Epochs: 2, BestEpoch: 1, Seconds: 1.25,
		History:       []Epoch{{1, 0.7, 0.625}, {2, 0.5, 0.5}},
		Probability:   []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8},
		ForwardStates: []State{{Layer: 1, GSL: 0.25}, {Layer: 8, GSL: 1}}},
	{Name: "GCN+ReP", Base: "GCN", Forward: 1, Reverse: 32, Val: 0.75, Test: 0.875, Epochs: 2, BestEpoch: 2, Seconds: 2,
		History:       []Epoch{{1, 0.7, 0.5}, {2, 0.4, 0.75}},
		Probability:   []float64{0.9, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8},
		ForwardStates: []State{{Layer: 1, GSL: 0.25}}, ReverseStates: []State{{Layer: 1, GSL: 0.5}, {Layer: 32, GSL: 0.125}}},
}}

func TestRunsTable(t *testing.T) {
	got, err := some.Table("scores", "Scores", ForwardLayers, ReverseLayers, Validation(1), Test(2), Adds("reverse", 2),
		Epochs, BestEpoch, Seconds).CSV()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		",GCN,Layers,forward,,0,ours,8,",
		",GCN+ReP,Layers,reverse,,0,ours,32,",
		",GCN,ROC-AUC,validation,%,0,ours,62.5,",
		",GCN+ReP,ROC-AUC,test,%,0,ours,87.5,",
		`,GCN+ReP,ROC-AUC,"test, reverse adds",percentage points,0,ours,37.5,`,
		",GCN,,epochs,,0,ours,2,",
		",GCN,,best epoch,,0,ours,1,",
		",GCN,,seconds,,0,ours,1.25,",
	} {
		if !strings.Contains(got, "\n"+want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if strings.Contains(got, `,GCN,ROC-AUC,"test, reverse adds",percentage points,0,ours,0`) {
		t.Errorf("what is compared with nothing has a difference: %s", got)
	}
}

func TestRunsFigures(t *testing.T) {
	corner := Corner{Width: 3, Side: 2}
	for want, figure := range map[string]*report.Figure{
		`"cross-entropy on training nodes (log scale)"`: some.Losses("loss", "Loss"),
		`"min":50`:           some.Scores("score", "Score"), // 62.5 is rounded down to 60; 60 - 10 = 50
		`"GCN+ReP, reverse"`: some.Smoothness("gsl", "GSL"),
		`"GCN+ReP: 87.5 %"`:  some.Boards("mines", "Mines", "probability of a mine", corner),
		`"Counts"`:           corner.Board("input", "Input", "mines", "Counts", some.Runs[0].Probability),
	} {
		option, err := figure.Option()
		if err != nil || !strings.Contains(string(option), want) {
			t.Errorf("%s: %v, want %s in %s", figure.ID, err, want, option)
		}
	}
	// A network without reverse layers has no curve for reverse layers. If there is a state after 0 layers, the axis of
	// layers must be linear, since a logarithmic axis cannot show 0.
	option, err := some.Smoothness("gsl", "GSL").Option()
	if err != nil || strings.Contains(string(option), `"GCN, reverse"`) {
		t.Errorf("a curve of nothing: %v, %s", err, option)
	}
	input := some
	input.Runs = []Run{{Name: "GCN", ForwardStates: []State{{Layer: 0, GSL: 0.5}, {Layer: 1, GSL: 0.75}}}}
	if _, err := input.Smoothness("gsl", "GSL").Option(); err != nil {
		t.Error(err)
	}
}

func TestCorner(t *testing.T) {
	for side, want := range map[int][]float64{2: {0, 1, 3, 4}, 5: {0, 1, 2, 3, 4, 5, 6, 7, 8}} {
		if got := (Corner{Width: 3, Side: side}).Cut([]float64{0, 1, 2, 3, 4, 5, 6, 7, 8}); !slices.Equal(got, want) {
			t.Errorf("a corner of side %d is %v, want %v", side, got, want)
		}
	}
	defer func() {
		if said, _ := recover().(error); said == nil || !strings.Contains(said.Error(), "one for each cell") {
			t.Errorf("values that are too few: %v", said)
		}
	}()
	Corner{Width: 3, Side: 2}.Cut([]float64{1})
}

func TestGraph(t *testing.T) {
	g, err := datasets.Minesweeper{Rows: 3, Cols: 3, Mines: 0.4, Unknown: 0, Seed: 1}.Graph()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Statistics("statistics", "Graph", g).CSV()
	if err != nil || !strings.Contains(got, "\n,9,,edges,,0,ours,20,") {
		t.Errorf("%v, %s", err, got)
	}
	option, err := Degrees("degrees", "Degrees", g).Option()
	if err != nil || !strings.Contains(string(option), "[3,4],[5,4],[8,1]") {
		t.Errorf("%v, %s", err, option) // four cells in corners have 3 neighbours, four at edges 5, one in the middle 8
	}
	for i, count := range datasets.MineCounts(g) {
		if math.IsNaN(count) {
			t.Errorf("cell %d is unknown", i)
		}
	}
}

// TestStatisticsWithoutEdges: where homophily is undefined, the table says why.
func TestStatisticsWithoutEdges(t *testing.T) {
	g, err := graphs.New("g", 2, nil, nil, 0, []int32{0, 1}, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	html, err := Statistics("statistics", "Graph", g).HTML()
	if err != nil || !strings.Contains(html, "no edge joins two labelled nodes") {
		t.Errorf("%v, %s", err, html)
	}
}

func TestHead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(file, []byte("1<2\n2\n3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	whole := "a.csv:\n1<2\n2\n3\n"
	for lines, want := range map[int]string{2: "a.csv:\n1<2\n2\n...\n", 3: whole, 4: whole} {
		if got := Head(file, lines).Text(); got != want {
			t.Errorf("%d lines are %q, want %q", lines, got, want)
		}
	}
	if html, err := Head(file, 1).HTML(); err != nil || html != "<pre>a.csv:\n1&lt;2\n...\n</pre>\n" {
		t.Errorf("%q, %v", html, err)
	}
}

// TestLinksNoEngine checks that package nb imports neither the engine nor the trainer. With these imports, it would
// take twice as long to link a cell that only shows something.
func TestLinksNoEngine(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, far := range []string{"gomlx", "go-xla", "sqlite", "pkg/train", "pkg/engine"} {
		if strings.Contains(string(out), far) {
			t.Errorf("package nb needs %s", far)
		}
	}
}
