package paper

import (
	"slices"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// Quick is the profile for a laptop: narrow layers, fewer and shallower ones where depth is not the point, few epochs, three
// splits. It shows where differences lie, and is not a reproduction of the published numbers.
func Quick() Profile {
	return Profile{
		Name:  "quick",
		About: "Profile quick: small enough for a laptop. Width 32 or 64, mostly shallower than the paper's models, at most 300 epochs, three splits where the paper has ten.",
		// Without roman-empire, amazon-ratings and questions, which are larger and take longer to fetch.
		Datasets: []string{"squirrel-filtered", "chameleon-filtered", "minesweeper", "tolokers", "cora", "citeseer", "pubmed", "computers", "photo"},
		Splits:   firstSplits(3), Tried: 3, Candidates: quickCandidates,
		InversionHidden: 64,
		Boards: [2]train.Config{
			with(models.GCNRep, func(c *train.Config) { quickModel(c); c.Forward, c.Reverse = 8, 16 }),
			with(models.GCN, func(c *train.Config) { quickModel(c); c.Forward = 8 }),
		},
		Depths: []int{1, 4, 16, 64, 256, 512, 1024}, Depth: quickDepth, DepthSplits: firstSplits(1),
		DepthNote:      "Split 0 only, width 32 on Chameleon, 16 with batch normalisation on Minesweeper, 80 epochs, and 50 from 512 layers on. " + depthRule,
		Smoothness:     quickSmoothness,
		SmoothnessNote: "Width 64; GCN+ReP, 60 epochs, has c = 0.01 and layers without a bias, as in the paper's formula; plain GCN, 150 epochs, has one, as in the authors' code. With a bias, which outweighs so small a W, all nodes drift the same way, and the GSL of the reverse process rose to 0.76 on Chameleon and 0.84 on Squirrel.",
		RunTimes:       []RunTime{{"minesweeper", models.GCNRep, 1}, {"chameleon-filtered", models.GCNRep, 1}, {"chameleon-filtered", models.GCNRep, 8}, {"chameleon-filtered", models.GATRep, 1}},
		RunTimeDepths:  []int{16, 32, 64, 128, 256},
	}
}

// quickModel is what all models of the quick profile share.
func quickModel(c *train.Config) {
	c.Hidden, c.Epochs, c.Patience, c.MaxIterations = 64, 200, 50, 10
}

// grid is a small grid of settings: depths (L_F and L_R, or T_F and T_R), learning rates, dropouts and weight decays, at one
// normalisation, width, number of epochs and patience.
type grid struct {
	depths                   [][2]int
	lr, dropout, weightDecay []float64
	norm                     string
	hidden, epochs, patience int
}

func (g grid) candidates(model string) []train.Config {
	var out []train.Config
	for _, at := range g.depths {
		for _, lr := range g.lr {
			for _, dropout := range g.dropout {
				for _, decay := range g.weightDecay {
					out = append(out, with(model, func(c *train.Config) {
						quickModel(c)
						c.LearningRate, c.Dropout, c.WeightDecay, c.Norm, c.Hidden, c.Epochs, c.Patience = lr, dropout, decay, g.norm, g.hidden, g.epochs, g.patience
						if c.Solver != "" { // GRAND
							c.Step = 1
						}
						setDepth(c, at)
					}))
				}
			}
		}
	}
	return out
}

// quickCandidates are one to four settings for each dataset and model, in the direction of the published depths as far as a
// laptop goes. The dearer a model, the fewer: those with reverse layers have at most as many as their plain backbones. What was
// left out did worse on the validation metric of split 0.
func quickCandidates(dataset, model string) []train.Config {
	g := grid{lr: []float64{0.01, 0.03}, dropout: []float64{0.5}, weightDecay: []float64{0.0005}, norm: "none", hidden: 64, epochs: 300, patience: 50}
	depths := map[string][][2]int{
		models.GCN: {{2, 0}}, models.GCNRep: {{4, 4}},
		models.GAT: {{2, 0}}, models.GATRep: {{2, 2}},
		models.GRAND: {{2, 0}}, models.GRANDRep: {{2, 1}},
	}
	switch dataset {
	case "chameleon-filtered", "squirrel-filtered":
		g.lr, g.dropout, g.weightDecay, g.epochs = []float64{0.01}, []float64{0.5, 0.8}, []float64{0}, 200
		depths[models.GCN], depths[models.GCNRep] = [][2]int{{2, 0}, {8, 0}}, [][2]int{{16, 64}}
		depths[models.GATRep] = [][2]int{{8, 8}}
	case "minesweeper":
		g.lr, g.dropout, g.weightDecay, g.norm, g.epochs = []float64{0.003, 0.01}, []float64{0}, []float64{0}, "batch", 200
		depths[models.GCN], depths[models.GCNRep] = [][2]int{{2, 0}, {8, 0}}, [][2]int{{1, 16}, {8, 16}}
		depths[models.GAT], depths[models.GATRep] = [][2]int{{8, 0}}, [][2]int{{8, 8}}
		depths[models.GRAND], depths[models.GRANDRep] = [][2]int{{1, 0}}, [][2]int{{4, 2}}
	case "tolokers":
		g.lr, g.dropout, g.weightDecay, g.norm, g.epochs, g.patience = []float64{0.01}, []float64{0, 0.2}, []float64{0}, "batch", 150, 100
		depths[models.GCN], depths[models.GCNRep] = [][2]int{{2, 0}, {4, 0}}, [][2]int{{8, 8}}
	case "computers", "photo":
		g.weightDecay = []float64{0}
	}
	if model != models.GCN && slices.Contains([]string{"minesweeper", "pubmed", "computers", "photo"}, dataset) {
		g.lr = g.lr[1:]
	}
	if model == models.GCNRep && dataset == "tolokers" {
		g.dropout = g.dropout[1:]
	}
	if model != models.GCN && model != models.GCNRep {
		switch dataset {
		case "squirrel-filtered":
			g.dropout = g.dropout[:1]
		case "tolokers", "pubmed", "computers", "photo":
			g.dropout, g.hidden, g.epochs, g.patience = g.dropout[:1], 32, 100, 50
		}
	}
	g.depths = depths[model]
	return g.candidates(model)
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
		c.Patience, c.Dropout, c.LearningRate = 0, 0.5, 0.003
	}
	out := []train.Config{with(models.GCNRep, func(c *train.Config) {
		shared(c)
		c.Forward, c.Reverse, c.Lipschitz, c.NoBias, c.Epochs = 16, 1024, 0.01, true, 60
	})}
	for _, layers := range []int{16, 32, 64} {
		out = append(out, with(models.GCN, func(c *train.Config) { shared(c); c.Forward, c.Epochs = layers, 150 }))
	}
	return out
}
