package datasets

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/graphs"
)

func TestGridEqualsTheRealOne(t *testing.T) {
	real := load(t, "minesweeper")
	g, err := DefaultMinesweeper().Graph()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(g.Edges, real.Edges) {
		t.Error("the 100 x 100 grid has other edges than the public dataset")
	}
	checkMinesweeper(t, real, 100, 100, 2000, 5000)
	checkMinesweeper(t, g, 100, 100, 2000, 5000)
}

func TestGeneratedShapesAndCounts(t *testing.T) {
	for _, m := range []Minesweeper{{1, 1, 1, 0, 1}, {1, 9, 0.2, 0.5, 2}, {9, 1, 0.5, 0.5, 3}, {7, 13, 0.2, 1, 4},
		{20, 30, 0.9, 0.1, 5}, {5, 5, 0, 0, 6}} {
		g, err := m.Graph()
		if err != nil {
			t.Fatal(err)
		}
		cells := float64(m.Rows * m.Cols)
		checkMinesweeper(t, g, m.Rows, m.Cols, int(math.Round(m.Mines*cells)), int(math.Round(m.Unknown*cells)))
	}
}

// checkMinesweeper checks, cell by cell, that a graph is as the doc comment of [Minesweeper] says.
func checkMinesweeper(t *testing.T, g *graphs.Graph, rows, cols, mines, unknown int) {
	t.Helper()
	if g.NumNodes != rows*cols || g.NumFeatures != 7 || g.NumClasses != 2 || len(g.Splits) != 10 {
		t.Fatalf("%s: %d nodes, %d features, %d classes, %d splits",
			g.Name, g.NumNodes, g.NumFeatures, g.NumClasses, len(g.Splits))
	}
	mine := func(r, c int) int {
		if r < 0 || c < 0 || r >= rows || c >= cols {
			return 0
		}
		return int(g.Labels[r*cols+c])
	}
	gotMines, gotUnknown := 0, 0
	for r := range rows {
		for c := range cols {
			around := -mine(r, c)
			for dr := -1; dr <= 1; dr++ {
				for dc := -1; dc <= 1; dc++ {
					around += mine(r+dr, c+dc)
				}
			}
			gotMines += mine(r, c)
			want := make([]float32, 7)
			row := g.Features[(r*cols+c)*7 : (r*cols+c+1)*7]
			if row[0] == 1 {
				gotUnknown++
				want[0] = 1
			} else {
				want[1+min(around, 5)] = 1
			}
			if !slices.Equal(row, want) {
				t.Fatalf("%s: cell (%d,%d) shows %v with %d mines around", g.Name, r, c, row, around)
			}
		}
	}
	if gotMines != mines || gotUnknown != unknown {
		t.Errorf("%s: %d mines and %d unknown, want %d and %d", g.Name, gotMines, gotUnknown, mines, unknown)
	}
	for k, s := range g.Splits {
		var train, val [2]int
		for i, l := range g.Labels {
			if s.Train[i] {
				train[l]++
			}
			if s.Val[i] {
				val[l]++
			}
		}
		for l, all := range [2]int{rows*cols - mines, mines} {
			if math.Abs(float64(train[l])-0.5*float64(all)) > 0.5 ||
				math.Abs(float64(val[l])-0.25*float64(all)) > 0.5 {
				t.Errorf("%s: split %d has %d and %d of %d nodes of class %d for training and validation",
					g.Name, k, train[l], val[l], all, l)
			}
		}
	}
}

func TestSeedsFixTheGraph(t *testing.T) {
	a, _ := Minesweeper{10, 10, 0.2, 0.5, 1}.Graph()
	b, _ := Minesweeper{10, 10, 0.2, 0.5, 1}.Graph()
	c, _ := Minesweeper{10, 10, 0.2, 0.5, 2}.Graph()
	if !slices.Equal(a.Labels, b.Labels) || !slices.Equal(a.Features, b.Features) ||
		!slices.Equal(a.Splits[9].Val, b.Splits[9].Val) {
		t.Error("equal seeds give different graphs")
	}
	if slices.Equal(a.Labels, c.Labels) {
		t.Error("different seeds give equal mines")
	}
	// The expected node numbers of the mines are constants. So the test fails if a new version of Go or another machine
	// gives another graph.
	var mines []int
	for i, l := range a.Labels {
		if l == 1 && len(mines) < 6 {
			mines = append(mines, i)
		}
	}
	if want := []int{0, 6, 8, 9, 12, 14}; !slices.Equal(mines, want) {
		t.Errorf("the first mines lie at %v, want %v", mines, want)
	}
}

func TestParseMinesweeper(t *testing.T) {
	for spec, want := range map[string]Minesweeper{
		"minesweeper-generated":                                            {100, 100, 0.2, 0.5, 1},
		"minesweeper-generated:rows=50":                                    {50, 100, 0.2, 0.5, 1},
		"minesweeper-generated:seed=7,unknown=0,mines=0.25,cols=3,rows=40": {40, 3, 0.25, 0, 7},
	} {
		m, err := ParseMinesweeper(spec)
		if err != nil || m != want {
			t.Errorf("%s: %+v, %v", spec, m, err)
		}
		if again, err := ParseMinesweeper(m.String()); err != nil || again != m {
			t.Errorf("%s does not survive %s", spec, m)
		}
	}
	for spec, want := range map[string]string{
		"minesweeper-generated:":                         "unknown setting",
		"minesweeper-generated:rows":                     "not a number",
		"minesweeper-generated:rows=x":                   "not a number",
		"minesweeper-generated:rows=5,rows=5":            "twice",
		"minesweeper-generated:depth=5":                  "unknown setting",
		"minesweeper-generated:mines=1.5":                "between 0 and 1",
		"minesweeper-generated:unknown=NaN":              "between 0 and 1",
		"minesweeper-generated:rows=0":                   "at least one",
		"minesweeper-generated:rows=9999999,cols=999999": "at most",
		"minesweeper-generated:seed=-1":                  "not a number",
		"minesweeper":                                    "is not minesweeper-generated",
	} {
		if _, err := ParseMinesweeper(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", spec, err, want)
		}
	}
}

func TestMineCounts(t *testing.T) {
	g, err := Minesweeper{Rows: 2, Cols: 3, Mines: 0.5, Unknown: 0.5, Seed: 3}.Graph()
	if err != nil {
		t.Fatal(err)
	}
	around := make([]float64, g.NumNodes) // the number of mines around each cell, counted over the edges
	for _, e := range g.Edges {
		around[e[0]] += float64(g.Labels[e[1]])
		around[e[1]] += float64(g.Labels[e[0]])
	}
	unknown := 0
	for i, count := range MineCounts(g) {
		if math.IsNaN(count) {
			unknown++
		} else if want := min(around[i], 5); count != want {
			t.Errorf("cell %d has %v mines around it, want %v", i, count, want)
		}
	}
	if unknown != 3 {
		t.Errorf("%d cells are unknown, want 3 of 6", unknown)
	}
}
