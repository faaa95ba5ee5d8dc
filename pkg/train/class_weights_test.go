package train

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/engine/enginetest"
	"github.com/revgnn/revgnn/pkg/graphs"
)

func TestClassWeights(t *testing.T) {
	g := &graphs.Graph{Name: "g", NumNodes: 12, NumClasses: 3, ClassNames: []string{"a", "b=c", "d"},
		Labels: []int32{0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 0, graphs.Unlabelled}}
	train := slices.Repeat([]bool{true}, 12)
	train[10], train[11] = false, false
	for setting, want := range map[string][]float32{"none": nil,
		"balanced": {1.66666667, 0.66666667, 1.11111111}, // scikit-learn 1.9.1, compute_class_weight
		"1,2,0.5":  {1, 2, 0.5}, "b=c=3": {1, 3, 1}, "d=2, a=4": {4, 1, 2},
		`"x,""y""=2",b=c=3`: {1, 3, 2}} {
		g.ClassNames[2] = "d"
		if strings.Contains(setting, "x,") {
			g.ClassNames[2] = `x,"y"`
		}
		if got, err := classWeights(setting, g, train); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", setting, got, err)
		}
	}
	for setting, want := range map[string]string{"1,2": "there are 3 classes", "x=2": `no class "x"`,
		"1,2,0": "above 0", "1,2,inf": "above 0", "a=": "above 0", "a=1,a=2": `"a" is there twice`,
		`"x,y"=2`: "it is no list", "a=1\nd=2": "it is no list", "rare": "there are 3 classes"} {
		if _, err := classWeights(setting, g, train); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

// TestWeightedLoss compares the loss with PyTorch's formula, Σ w_y l / Σ w_y, computed from the logits in float64, for
// two classes and for three, and checks that training takes it.
func TestWeightedLoss(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e *engine.Engine) {
		for classes, setting := range map[int]string{2: "1,5", 3: "1,5,0.5"} {
			g := board(t, 6)
			g.NumClasses = classes
			for i := range g.Labels {
				g.Labels[i] = int32(i % classes)
			}
			g.Labels[35] = graphs.Unlabelled
			for _, s := range g.Splits {
				s.Train[35], s.Val[35], s.Test[35] = false, false, false
			}
			c := Default("gcn")
			c.Hidden, c.Forward, c.Epochs = 4, 1, 2
			plain := fitted(t, e, g, c)
			c.ClassWeights = setting
			weighted := fitted(t, e, g, c)
			p, err := Evaluate(e, g, 0, c, plain.Weights, false)
			if err != nil {
				t.Fatal(err)
			}
			weights, probabilities := []float64{1, 5, 0.5}, p.Probabilities()
			sum, all := 0.0, 0.0
			for i, in := range g.Splits[0].Train {
				if in {
					w := weights[g.Labels[i]]
					sum -= w * math.Log(probabilities[i*classes+int(g.Labels[i])])
					all += w
				}
			}
			if want := sum / all; math.Abs(p.Loss-want) > 1e-5 {
				t.Errorf("%d classes: the loss is %v, want %v", classes, p.Loss, want)
			}
			if plain.History[0].Loss == weighted.History[0].Loss {
				t.Errorf("%d classes: the weights change nothing", classes)
			}
		}
	})
}
