package graphs

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// people is a table of eight nodes, of which the first five are for training.
func people() (g *Graph, train []bool) {
	column := func(name string, texts ...string) Column {
		c := Column{Name: name, Codes: make([]int32, len(texts))}
		for _, text := range texts {
			if text != "" && !slices.Contains(c.Values, text) {
				c.Values = append(c.Values, text)
			}
		}
		slices.Sort(c.Values)
		for i, text := range texts {
			if c.Codes[i] = int32(slices.Index(c.Values, text)); text == "" && c.Line == 0 {
				c.Line = i + 2
			}
		}
		return c
	}
	g = &Graph{Name: "people", NumNodes: 8, NumFeatures: 2, FeatureNames: []string{"age", "joined"},
		Edges:  []Edge{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {4, 5}},
		Labels: make([]int32, 8), NumClasses: 1, Columns: []Column{
			column("income", "1000.5", "", "3000.25", "", "1500", "2e3", "", "10"),
			column("city", "Rome", "Oslo", "Rome", "", "Bern", "Oslo", "Paris", ""),
			column("member", "yes", "no", "Yes", "no", "yes", "No", "no", "TRUE")}}
	for _, age := range []float32{20, 30, 40, 50, 60, 25, 35, 80} {
		g.Features = append(g.Features, age, 1.6e9)
	}
	return g, []bool{true, true, true, true, true, false, false, false}
}

func settings(change func(*Preparation)) Preparation {
	p := Preparation{Scale: "none", FitOn: "train", Missing: "refuse", Structure: "none"}
	change(&p)
	return p
}

// prepared fits and applies a preparation, which it writes as JSON and reads again in between.
func prepared(t *testing.T, g *Graph, train []bool, p Preparation) (*Graph, []string) {
	t.Helper()
	fitted, notes, err := p.Prepare(g, train)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(fitted)
	if err != nil {
		t.Fatal(err)
	}
	var read *Prepared
	if err := json.Unmarshal(text, &read); err != nil || read.Validate() != nil {
		t.Fatal(err, read.Validate())
	}
	out, more, err := read.Apply(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Validate(); err != nil {
		t.Fatal(err)
	}
	return out, append(notes, more...)
}

// columnOf has a feature's values.
func columnOf(g *Graph, name string) (values []float64) {
	k := slices.Index(g.FeatureNames, name)
	for i := range g.NumNodes {
		values = append(values, float64(g.Features[i*g.NumFeatures+k]))
	}
	return values
}

// TestPreparedAsByScikitLearn compares with numbers of scikit-learn 1.9.1: StandardScaler after SimpleImputer with an
// indicator, and OneHotEncoder(handle_unknown="ignore") of the texts that are there.
func TestPreparedAsByScikitLearn(t *testing.T) {
	g, train := people()
	zeros := make([]float64, 8)
	for on, want := range map[string]map[string][]float64{
		"train": {
			"age":    {-1.4142136, -0.7071068, 0, 0.7071068, 1.4142136, -1.0606602, -0.3535534, 2.8284271},
			"joined": zeros, "income": {-1.2656174, 0, 1.7723961, 0, -0.5067787, 0.2528196, 0, -2.7703817},
			"income=missing": {0, 1, 0, 1, 0, 0, 1, 0},
			"city=Bern":      {0, 0, 0, 0, 1, 0, 0, 0}, "city=Oslo": {0, 1, 0, 0, 0, 1, 0, 0},
			"city=Rome": {1, 0, 1, 0, 0, 0, 0, 0}, "city=missing": {0, 0, 0, 1, 0, 0, 0, 1},
			"member": {1, 0, 1, 0, 1, 0, 0, 1}},
		"all": {
			"age":    {-1.2026756, -0.6681531, -0.1336306, 0.4008919, 0.9354143, -0.9354143, -0.4008919, 2.0044593},
			"joined": zeros, "income": {-0.6364339, 0, 1.9006113, 0, -0.0027277, 0.6316129, 0, -1.8930626},
			"income=missing": {0, 1, 0, 1, 0, 0, 1, 0},
			"city=Bern":      {0, 0, 0, 0, 1, 0, 0, 0}, "city=Oslo": {0, 1, 0, 0, 0, 1, 0, 0},
			"city=Paris": {0, 0, 0, 0, 0, 0, 1, 0},
			"city=Rome":  {1, 0, 1, 0, 0, 0, 0, 0}, "city=missing": {0, 0, 0, 1, 0, 0, 0, 1},
			"member": {1, 0, 1, 0, 1, 0, 0, 1}},
	} {
		out, notes := prepared(t, g, train, settings(func(p *Preparation) {
			p.Scale, p.Missing, p.FitOn = "standardise", "mean", on
		}))
		if out.NumFeatures != len(want) {
			t.Errorf("%s: features %v", on, out.FeatureNames)
		}
		for name, values := range want {
			got := columnOf(out, name)
			for i, v := range values {
				if math.Abs(got[i]-v) > 1e-6 {
					t.Errorf("%s: %s of node %d is %v, want %v", on, name, i, got[i], v)
				}
			}
		}
		text := strings.Join(notes, "\n")
		if unseen := strings.Contains(text, "Paris"); unseen != (on == "train") ||
			!strings.Contains(text, map[string]string{"train": "training nodes (5)", "all": "all nodes (8)"}[on]) {
			t.Errorf("%s: notes %s", on, text)
		}
	}
}

func TestPreparationByTheOtherSettings(t *testing.T) {
	g, train := people()
	if p, notes, err := settings(func(*Preparation) {}).Prepare(&Graph{NumNodes: 1, NumFeatures: 1,
		Features: []float32{1}}, []bool{true}); p != nil || notes != nil || err != nil {
		t.Errorf("nothing is asked for, and there is %v, %q, %v", p, notes, err)
	}
	mean := settings(func(p *Preparation) { p.Missing = "mean" })
	out, notes := prepared(t, g, train, mean)
	if got := columnOf(out, "income"); got[0] != 1000.5 || math.Abs(got[1]-(1000.5+3000.25+1500)/3) > 1e-3 ||
		columnOf(out, "age")[0] != 20 {
		t.Errorf("income %v", got)
	}
	if len(notes) == 0 || !strings.Contains(notes[0], `"joined" (about 1.6e+09) and "age"`) {
		t.Errorf("notes %q", notes)
	}
	g.Columns = g.Columns[1:]
	g.Columns[0].Codes[3], g.Columns[0].Codes[7] = 0, 0
	out, _ = prepared(t, g, train, settings(func(p *Preparation) { p.Scale = "row-normalise" }))
	if sum := floatsOf(out, 0); math.Abs(sum-1) > 1e-6 {
		t.Errorf("the first row adds up to %v", sum)
	}
	// A file without names is prepared by the places of its columns.
	nameless := &Graph{NumNodes: 3, NumFeatures: 1, Features: []float32{1, 2, 3}, Labels: make([]int32, 3),
		NumClasses: 1}
	out, _ = prepared(t, nameless, []bool{true, true, true}, settings(func(p *Preparation) { p.Scale = "standardise" }))
	if want := float32(math.Sqrt(1.5)); out.Features[2] != want || out.FeatureNames[0] != "0" {
		t.Errorf("%v %v", out.Features, out.FeatureNames)
	}
}

func floatsOf(g *Graph, node int) (sum float64) {
	for _, v := range g.Features[node*g.NumFeatures:][:g.NumFeatures] {
		sum += float64(v)
	}
	return sum
}

// TestWhatAnotherTableMayHold applies a preparation to other tables. A column may be read as numbers there, since its
// file has no text in it.
func TestWhatAnotherTableMayHold(t *testing.T) {
	g, train := people()
	p, _, err := settings(func(p *Preparation) { p.Scale, p.Missing = "standardise", "mean" }).Prepare(g, train)
	if err != nil {
		t.Fatal(err)
	}
	numbers := func(g *Graph, names ...string) { // in place of the columns of these names
		g.FeatureNames = append(g.FeatureNames, names...)
		g.NumFeatures = len(g.FeatureNames)
		g.Features = slices.Repeat([]float32{1}, g.NumNodes*g.NumFeatures)
		gone := func(c Column) bool { return slices.Contains(names, c.Name) }
		g.Columns = slices.DeleteFunc(slices.Clone(g.Columns), gone)
	}
	for what, c := range map[string]struct {
		change func(g *Graph)
		err    string
		note   string
	}{
		"the same":         {func(*Graph) {}, "", "Paris"},
		"no gaps any more": {func(g *Graph) { numbers(g, "income") }, "", "Paris"},
		"numbers for true": {func(g *Graph) { numbers(g, "member") }, "", "Paris"},
		"codes for texts":  {func(g *Graph) { numbers(g, "city") }, "", `training had no 1: 8 nodes`},
		"two columns less": {func(g *Graph) { g.Columns = g.Columns[1:2] }, "lacks the columns income, member", ""},
		"another order":    {func(g *Graph) { g.FeatureNames = []string{"joined", "age"} }, "", "Paris"},
		"one more": {func(g *Graph) {
			g.Columns = append(slices.Clone(g.Columns), Column{Name: "x", Codes: make([]int32, 8)})
		},
			"columns x, which", ""},
		"two of a name":     {func(g *Graph) { g.FeatureNames = []string{"age", "age"} }, `are named "age"`, ""},
		"texts for numbers": {func(g *Graph) { g.Columns[0].Values[0] = "1e" }, `value "1e"`, ""},
		"neither 0 nor 1":   {func(g *Graph) { numbers(g, "member"); g.Features[2] = 3 }, "has the value 3", ""},
		"no names":          {func(g *Graph) { g.FeatureNames, g.Columns = nil, nil }, "2 columns of features", ""},
	} {
		other, _ := people()
		c.change(other)
		_, notes, err := p.Apply(other)
		if text := fmt.Sprint(err); c.err == "" && err != nil || !strings.Contains(text, c.err) ||
			!strings.Contains(strings.Join(notes, "\n"), c.note) {
			t.Errorf("%s: %v, notes %q", what, err, notes)
		}
	}
}

func TestTablesThatAreRefused(t *testing.T) {
	for what, c := range map[string]struct {
		change func(g *Graph)
		want   string
	}{
		"a gap": {func(*Graph) {}, `column "income": line 3 has no value: fill it in, leave the column out, ` +
			"or train with --missing mean"},
		"a gap of a node": {func(g *Graph) { g.Columns[0].Line = 0 }, `node "1" has no value`},
		"two of a name":   {func(g *Graph) { g.Columns[0].Name = "age" }, `two columns are named "age"`},
		"identifiers": {func(g *Graph) {
			g.NumNodes, g.NumFeatures = 12, 0
			g.Columns = []Column{{Name: "mail", Codes: make([]int32, 12)}}
			for i := range 12 {
				g.Columns[0].Codes[i] = int32(i)
				g.Columns[0].Values = append(g.Columns[0].Values, string(rune('a'+i)))
			}
		}, `column "mail": its 12 values are 12 different texts`},
		"too many": {func(g *Graph) {
			g.NumNodes, g.NumFeatures = 1000, 0
			g.Columns = []Column{{Name: "job", Codes: make([]int32, 1000)}}
			for i := range 300 {
				g.Columns[0].Values = append(g.Columns[0].Values, fmt.Sprintf("%03dx", i))
			}
		}, "300 categories, more than the limit of 256"},
		"nothing": {func(g *Graph) { g.Columns = []Column{{Name: "x", Codes: slices.Repeat([]int32{-1}, 8)}} },
			"no value at all"},
	} {
		g, train := people()
		c.change(g)
		train = append(train, make([]bool, g.NumNodes-len(train))...)
		p, _, err := settings(func(*Preparation) {}).Prepare(g, train)
		if err == nil {
			_, _, err = p.Apply(g)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
	g, _ := people()
	_, _, err := settings(func(p *Preparation) { p.Missing = "mean" }).Prepare(g, []bool{1: true, 3: true, 7: false})
	if err == nil || !strings.Contains(err.Error(), "choose --fit-on all") {
		t.Errorf("got %v", err)
	}
}

func TestListFeatures(t *testing.T) {
	g, _ := people()
	want := "age, joined (numbers); income (numbers, 3 missing); city (4 categories, 2 missing); member (boolean)"
	if got := g.ListFeatures(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for want, g := range map[string]*Graph{"none": {}, "3 numbers without names": {NumFeatures: 3},
		"18, 19 (numbers); and 5 more": {NumFeatures: 25, FeatureNames: func() (names []string) {
			for i := range 25 {
				names = append(names, fmt.Sprint(i))
			}
			return names
		}()}} {
		if got := g.ListFeatures(); !strings.HasSuffix(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestRowNormalise(t *testing.T) {
	x := []float32{1, 3, 0, 0, 0.25, 0.5, -2, 1}
	RowNormalise(x, 2)
	if want := []float32{0.25, 0.75, 0, 0, 0.25, 0.5, -2, 1}; !slices.Equal(x, want) {
		t.Errorf("got %v, want %v", x, want)
	}
	RowNormalise(x, 0)
	RowNormalise(nil, 3)
}

// FuzzPrepared reads arbitrary preparations and applies those that are valid.
func FuzzPrepared(f *testing.F) {
	g, train := people()
	for _, structure := range []string{"none", "degree", "laplacian", "identity", "random-walk"} {
		p, _, err := settings(func(p *Preparation) {
			p.Scale, p.Missing, p.Structure = "standardise", "mean", structure
		}).Prepare(g, train)
		if err != nil {
			f.Fatal(err)
		}
		text, _ := json.Marshal(p)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var p *Prepared
		if json.Unmarshal(text, &p) != nil || p.Validate() != nil {
			return
		}
		if out, _, err := p.Apply(g); err == nil && out.Validate() != nil {
			// Numbers that are finite in the file may be too large for a feature.
			if text := out.Validate().Error(); !strings.Contains(text, "features must be finite") {
				t.Error(text)
			}
		}
	})
}
