package trained

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/npz"
	"github.com/revgnn/revgnn/pkg/train"
)

func array(values ...float32) train.Array {
	return train.Array{Shape: []int{len(values)}, Values: values}
}

func TestRoundTrip(t *testing.T) {
	want := map[string]train.Array{"a.weight": {Shape: []int{2, 1}, Values: []float32{1, 2}}, "a.bias": array(3)}
	for _, name := range []string{"w.npz", "w.safetensors", "W.NPZ"} {
		path := filepath.Join(t.TempDir(), name)
		if err := WriteWeights(path, want); err != nil {
			t.Fatal(err)
		}
		got, err := ReadWeights(path)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if err := WriteWeights(filepath.Join(t.TempDir(), "w.pt"), want); err == nil {
		t.Error("an unknown format was written")
	}
}

func TestWhatCountsAsAParameter(t *testing.T) {
	one := func(names ...string) string {
		var arrays []npz.Named
		for _, n := range names {
			arrays = append(arrays, npz.Named{Name: n, Values: []float32{1}})
		}
		path := filepath.Join(t.TempDir(), "w.npz")
		if err := npz.Write(path, arrays); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for want, names := range map[string][]string{
		"a b": {"param.a", "param.b", "c", "grad.a", "out.logits"},
		"out.weight": {"out.weight", "out.logits", "out.loss", "out.representation", "grad.out.weight",
			"bn.num_batches_tracked"},
	} {
		got, err := ReadWeights(one(names...))
		if err != nil {
			t.Error(err)
		}
		for name := range strings.FieldsSeq(want) {
			if _, ok := got[name]; !ok || len(got) != len(strings.Fields(want)) {
				t.Errorf("%v gives %v, want %s", names, got, want)
			}
		}
	}
	if _, err := ReadWeights(one("out.loss")); err == nil || !strings.Contains(err.Error(), "no parameters") {
		t.Errorf("got %v", err)
	}
	text := filepath.Join(t.TempDir(), "w.txt")
	if err := os.WriteFile(text, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadWeights(text); err == nil || !strings.Contains(err.Error(), "neither in .npz nor") {
		t.Errorf("got %v", err)
	}
}

// TestPickTakesEitherName: PyTorch adds "_orig" to the names of weights that are scaled inside the model. Pick must
// find a weight in a file under the name with this ending, and also under the name without it. Pick must return an
// error if the file has a weight under both names, or has a name that the model does not have.
func TestPickTakesEitherName(t *testing.T) {
	g, err := datasets.Load(t.Context(), "minesweeper-generated:rows=4,cols=4", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const plain, mark = "stack.0.body.lin.weight", "stack.0.body.lin.weight_orig"
	for _, c := range []struct{ normalise, stored, wanted string }{
		{"project", plain, plain}, {"project", mark, plain}, {"reparametrise", plain, mark},
		{"reparametrise", mark, mark},
	} {
		config := models.Default("gcn+rep")
		config.Normalise = c.normalise
		pick := func(read map[string]train.Array) (wanted map[string]train.Array, names map[string]string, err error) {
			return Pick(config, g.NumFeatures, g.NumClasses, read)
		}
		wanted, names, err := pick(map[string]train.Array{c.stored: array(1), "in_.bias": array(2)})
		if err != nil || len(wanted) != 2 || len(wanted[c.wanted].Values) != 1 || names[c.wanted] != c.stored {
			t.Errorf("%+v: %v, %v, %v", c, wanted, names, err)
		}
		if _, _, err := pick(map[string]train.Array{"zzz": array(1)}); err == nil ||
			!strings.Contains(err.Error(), `"zzz"`) {
			t.Errorf("got %v", err)
		}
		if _, _, err := pick(map[string]train.Array{plain: array(1), mark: array(1)}); err == nil {
			t.Error("both names were accepted")
		}
	}
}

func TestPredictionNames(t *testing.T) {
	p := &train.Prediction{Logits: []float32{1, 2}, Outputs: 1, Representation: []float32{1, 2, 3, 4}, Width: 2,
		Loss: 0.5, Gradients: map[string]train.Array{"b": array(1), "a": array(2)}}
	got := ""
	for _, a := range Compared(p, 2, map[string]string{"a": "a_orig"}) {
		got += fmt.Sprint(a.Name, a.Shape, " ")
	}
	if want := "logits[2] representation[2 2] loss[] grad.a_orig[1] grad.b[1] "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	p.Outputs = 2
	if a := Compared(p, 1, nil); fmt.Sprint(a[0].Shape) != "[1 2]" {
		t.Errorf("logits have the shape %v", a[0].Shape)
	}
}
