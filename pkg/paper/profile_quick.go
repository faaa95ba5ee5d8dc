package paper

import (
	"strings"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// Quick is the profile for a laptop: narrow layers, fewer and shallower ones where depth is not the point, few epochs, three
// splits. It shows where differences lie, and is not a reproduction of the published numbers.
func Quick() Profile {
	return Profile{
		Name:  "quick",
		About: "Profile quick: small enough for a laptop. Width 32 to 64, mostly shallower than the paper's models, at most 200 epochs, three splits where the paper has ten.",
		// Without roman-empire, amazon-ratings and questions, which are larger and take longer to fetch.
		Datasets: []string{"squirrel-filtered", "chameleon-filtered", "minesweeper", "tolokers", "cora", "citeseer", "pubmed", "computers", "photo"},
		Splits:   firstSplits(3), Tried: 1, Candidates: quickCandidates,
		InversionHidden: 64,
		Boards: [2]train.Config{
			with(models.GCNRep, func(c *train.Config) { quickModel(c); c.Forward, c.Reverse, c.LearningRate = 8, 32, 0.01 }),
			with(models.GCN, func(c *train.Config) { quickModel(c); c.Forward, c.LearningRate = 8, 0.01 }),
		},
		Depths: []int{1, 4, 16, 64, 256, 512, 1024}, Depth: quickDepth, DepthSplits: firstSplits(1),
		DepthNote:      "Split 0 only, width 32 on Chameleon and 16 on Minesweeper, fewer epochs where deeper. " + depthRule,
		Smoothness:     quickSmoothness,
		SmoothnessNote: "Width 32. " + depthRule,
		RunTimes:       []RunTime{{"minesweeper", models.GCNRep, 1}, {"chameleon-filtered", models.GCNRep, 1}, {"chameleon-filtered", models.GCNRep, 8}, {"chameleon-filtered", models.GATRep, 1}},
		RunTimeDepths:  []int{16, 32, 64, 128, 256},
	}
}

// quickModel is what all models of the quick profile share.
func quickModel(c *train.Config) {
	c.Hidden, c.Epochs, c.Patience, c.MaxIterations = 64, 200, 50, 10
}

// grid is a small grid of settings: learning rates, at one dropout, normalisation, width and number of epochs; layers (L_F and L_R, or T_F
// and T_R) come from outside.
type grid struct {
	lr      []float64
	dropout float64
	norm    string
	hidden  int
	epochs  int
}

func (g grid) candidates(model string, layers [][2]int) []train.Config {
	var out []train.Config
	for _, at := range layers {
		for _, lr := range g.lr {
			out = append(out, with(model, func(c *train.Config) {
				quickModel(c)
				if strings.HasPrefix(model, models.GRAND) {
					c.Time, c.ReverseTime, c.Step = float64(at[0]), float64(at[1]), 1
				} else {
					c.Forward, c.Reverse = at[0], at[1]
				}
				c.LearningRate, c.Dropout, c.Norm, c.Hidden, c.Epochs = lr, g.dropout, g.norm, g.hidden, g.epochs
			}))
		}
	}
	return out
}

// quickCandidates are two to four settings for each dataset and model, in the direction of the published depths as far as a
// laptop goes. A model with reverse layers and its plain backbone have as many.
func quickCandidates(dataset, model string) []train.Config {
	g := grid{lr: []float64{0.005, 0.01}, norm: "none", hidden: 32, epochs: 100}
	layers := map[string][][2]int{
		models.GCN: {{2, 0}, {4, 0}}, models.GCNRep: {{4, 2}, {4, 8}},
		models.GAT: {{2, 0}}, models.GATRep: {{2, 1}},
		models.GRAND: {{2, 0}}, models.GRANDRep: {{2, 1}},
	}
	switch dataset {
	case "chameleon-filtered":
		g.lr, g.dropout, g.hidden, g.epochs = []float64{0.001, 0.003}, 0.8, 64, 150
		layers[models.GCN], layers[models.GCNRep] = [][2]int{{2, 0}, {8, 0}}, [][2]int{{16, 32}, {64, 64}}
		layers[models.GATRep] = [][2]int{{8, 8}}
	case "squirrel-filtered":
		g.lr, g.dropout, g.hidden, g.epochs = []float64{0.001, 0.003}, 0.8, 64, 120
		layers[models.GCN], layers[models.GCNRep] = [][2]int{{2, 0}, {8, 0}}, [][2]int{{16, 32}, {32, 64}}
		layers[models.GATRep] = [][2]int{{8, 8}}
	case "minesweeper":
		g.lr, g.norm, g.hidden, g.epochs = []float64{0.003, 0.01}, "batch", 64, 150
		layers[models.GCN], layers[models.GCNRep] = [][2]int{{2, 0}, {8, 0}}, [][2]int{{1, 16}, {1, 64}}
		layers[models.GAT], layers[models.GATRep] = [][2]int{{8, 0}}, [][2]int{{8, 8}}
		layers[models.GRAND], layers[models.GRANDRep] = [][2]int{{1, 0}}, [][2]int{{4, 2}}
	case "cora", "citeseer", "pubmed", "computers", "photo":
		g.dropout, g.hidden = 0.5, 64
		layers[models.GCN], layers[models.GCNRep] = [][2]int{{2, 0}}, [][2]int{{4, 4}}
	}
	return g.candidates(model, layers[model])
}

// quickDepth is the setting of figure 2.
func quickDepth(dataset string, forward, reverse int) train.Config {
	return with(models.GCNRep, func(c *train.Config) {
		quickModel(c)
		c.Forward, c.Reverse, c.LearningRate, c.Hidden = forward, reverse, 0.01, 16
		if dataset == "chameleon-filtered" {
			c.Hidden, c.Dropout, c.LearningRate = 32, 0.8, 0.003
		}
		c.Epochs = map[bool]int{true: 40, false: 100}[max(forward, reverse) > 100]
		tame(c)
	})
}

// quickSmoothness are the models of figure 3.
func quickSmoothness(string) []train.Config {
	shared := func(c *train.Config) {
		quickModel(c)
		c.Hidden, c.Epochs, c.Dropout, c.LearningRate = 32, 30, 0.5, 0.003
	}
	out := []train.Config{with(models.GCNRep, func(c *train.Config) {
		shared(c)
		c.Forward, c.Reverse = 64, 1024
		tame(c)
	})}
	for _, layers := range []int{16, 32, 64} {
		out = append(out, with(models.GCN, func(c *train.Config) { shared(c); c.Forward, c.Epochs = layers, 100 }))
	}
	return out
}
