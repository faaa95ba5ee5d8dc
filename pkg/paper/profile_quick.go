package paper

import (
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// Quick is the profile for a laptop: narrow layers, fewer and shallower ones where depth is not the point, few epochs, three
// splits. It shows where differences lie, and is not a reproduction of the published numbers.
func Quick() Profile {
	return Profile{
		Name:  "quick",
		About: "Profile quick: small enough for a laptop. Width 32 to 64, mostly shallower than the paper's models, at most 200 epochs, three splits where the paper has ten; of the backbones GCN, unless others are asked for.",
		// Without roman-empire, amazon-ratings and questions, which are larger and take longer to fetch.
		Datasets: []string{"squirrel-filtered", "chameleon-filtered", "minesweeper", "tolokers", "cora", "citeseer", "pubmed", "computers", "photo"},
		// The others take half an hour more.
		Models: []string{models.GCN, models.GCNRep},
		Splits: firstSplits(3), Tried: 1, Candidates: quickCandidates,
		InversionHidden: 64,
		Boards: [2]train.Config{
			with(models.GCNRep, func(c *train.Config) { quickModel(c); c.Forward, c.Reverse = 8, 16 }),
			with(models.GCN, func(c *train.Config) { quickModel(c); c.Forward = 8 }),
		},
		Depths: []int{1, 4, 16, 64, 256, 512, 1024}, Depth: quickDepth, DepthSplits: firstSplits(1),
		DepthNote:      "Split 0 only, width 32 on Chameleon, 16 with batch normalisation on Minesweeper, 80 epochs, and 50 from 512 layers on. " + depthRule,
		Smoothness:     quickSmoothness,
		SmoothnessNote: "Width 64, 60 epochs. GCN+ReP has c = 0.02 here. With c = 0.05 and weight decay, as in table 2, one run on Chameleon had a higher validation accuracy (0.54 against 0.45), and a GSL that rose to 0.86 at 128 reverse layers and fell to 0.68 at 1024.",
		RunTimes:       []RunTime{{"minesweeper", models.GCNRep, 1}, {"chameleon-filtered", models.GCNRep, 1}, {"chameleon-filtered", models.GCNRep, 8}, {"chameleon-filtered", models.GATRep, 1}},
		RunTimeDepths:  []int{16, 32, 64, 128, 256},
	}
}

// quickModel is what all models of the quick profile share.
func quickModel(c *train.Config) {
	c.Hidden, c.Epochs, c.Patience, c.MaxIterations = 64, 200, 50, 10
}

// grid is a small grid of settings: learning rates and dropouts, at one weight decay, normalisation, width and number of epochs;
// layers (L_F and L_R, or T_F and T_R) come from outside.
type grid struct {
	lr, dropout []float64
	weightDecay float64
	norm        string
	hidden      int
	epochs      int
}

func (g grid) candidates(model string, layers [][2]int) []train.Config {
	var out []train.Config
	for _, at := range layers {
		for _, lr := range g.lr {
			for _, dropout := range g.dropout {
				out = append(out, with(model, func(c *train.Config) {
					quickModel(c)
					c.LearningRate, c.Dropout, c.WeightDecay, c.Norm, c.Hidden, c.Epochs = lr, dropout, g.weightDecay, g.norm, g.hidden, g.epochs
					if c.Solver != "" { // GRAND
						c.Step = 1
					}
					setDepth(c, at)
				}))
			}
		}
	}
	return out
}

// quickCandidates are one to four settings for each dataset and model, in the direction of the published depths as far as a
// laptop goes; no model with reverse layers has more than its plain backbone.
func quickCandidates(dataset, model string) []train.Config {
	g := grid{lr: []float64{0.005, 0.01}, dropout: []float64{0}, norm: "none", hidden: 32, epochs: 100}
	layers := map[string][][2]int{
		models.GCN: {{2, 0}, {4, 0}}, models.GCNRep: {{4, 2}, {4, 8}},
		models.GAT: {{2, 0}}, models.GATRep: {{2, 1}},
		models.GRAND: {{2, 0}}, models.GRANDRep: {{2, 1}},
	}
	switch dataset {
	case "chameleon-filtered", "squirrel-filtered":
		g.lr, g.dropout, g.weightDecay, g.hidden, g.epochs = []float64{0.003}, []float64{0.5, 0.8}, 0.001, 64, 150
		layers[models.GCN], layers[models.GCNRep] = [][2]int{{2, 0}, {8, 0}}, [][2]int{{16, 64}}
		layers[models.GATRep] = [][2]int{{8, 8}}
		if dataset == "chameleon-filtered" {
			layers[models.GCNRep] = append(layers[models.GCNRep], [2]int{16, 256})
		} else {
			g.epochs = 120
		}
	case "minesweeper":
		g.lr, g.norm, g.hidden, g.epochs = []float64{0.003, 0.01}, "batch", 64, 150
		layers[models.GCN], layers[models.GCNRep] = [][2]int{{2, 0}, {8, 0}}, [][2]int{{1, 16}, {1, 64}}
		layers[models.GAT], layers[models.GATRep] = [][2]int{{8, 0}}, [][2]int{{8, 8}}
		layers[models.GRAND], layers[models.GRANDRep] = [][2]int{{1, 0}}, [][2]int{{4, 2}}
	case "cora", "citeseer", "pubmed", "computers", "photo":
		g.lr, g.dropout, g.weightDecay, g.hidden = []float64{0.01}, []float64{0.5}, 0.0005, 64
		layers[models.GCN], layers[models.GCNRep] = [][2]int{{2, 0}}, [][2]int{{4, 4}}
	}
	if model != models.GCN && model != models.GCNRep { // dearer: one setting
		g.lr, g.dropout = g.lr[len(g.lr)-1:], g.dropout[:1]
	}
	return g.candidates(model, layers[model])
}

// quickDepth is the setting of figure 2.
func quickDepth(dataset string, forward, reverse int) train.Config {
	return with(models.GCNRep, func(c *train.Config) {
		quickModel(c)
		c.Forward, c.Reverse, c.LearningRate, c.Hidden, c.Norm = forward, reverse, 0.003, 16, "batch"
		if dataset == "chameleon-filtered" {
			c.Hidden, c.Dropout, c.WeightDecay, c.Norm = 32, 0.5, 0.001, "none"
		}
		c.Epochs, c.Patience = 80, 0
		if max(forward, reverse) >= 512 {
			c.Epochs = 50
		}
		tame(c)
	})
}

// quickSmoothness are the models of figure 3.
func quickSmoothness(string) []train.Config {
	shared := func(c *train.Config) {
		quickModel(c)
		c.Epochs, c.Patience, c.Dropout, c.LearningRate = 60, 0, 0.5, 0.003
	}
	out := []train.Config{with(models.GCNRep, func(c *train.Config) {
		shared(c)
		c.Forward, c.Reverse, c.Lipschitz, c.LearningRate = 16, 1024, 0.02, 0.0008
	})}
	for _, layers := range []int{16, 32, 64} {
		out = append(out, with(models.GCN, func(c *train.Config) { shared(c); c.Forward = layers }))
	}
	return out
}
