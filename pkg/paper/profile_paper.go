package paper

import (
	"math"
	"strings"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/train"
)

// Paper is the profile of the published depths and widths, ten splits, at most 1000 epochs with patience 100. The paper gives
// its depths in tables 2 and 6, and for the width a range of 128 to 2048 that each was chosen from; ours is 256, the authors'
// default. On two cores it takes weeks; it is meant for GPUs and for shards.
func Paper() Profile {
	return Profile{
		Name:     "paper",
		About:    "Profile paper: the published depths, width 256 (the authors' default; the paper chose each from 128 to 2048), ten splits, at most 1000 epochs with patience 100.",
		Datasets: datasetNames(),
		Splits:   firstSplits(10), Tried: 3, Candidates: paperCandidates,
		InversionHidden: 256,
		Boards: [2]train.Config{
			with(models.GCNRep, func(c *train.Config) { paperModel(c); c.Forward, c.Reverse = 16, 256 }),
			with(models.GCN, func(c *train.Config) { paperModel(c); c.Forward = 16 }),
		},
		Depths: []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}, Depth: paperDepth, DepthSplits: firstSplits(10),
		DepthNote:      "Ten splits, width 256. " + depthRule,
		Smoothness:     paperSmoothness,
		SmoothnessNote: depthRule,
		RunTimes:       []RunTime{{"minesweeper", models.GCNRep, 1}, {"chameleon-filtered", models.GCNRep, 1}, {"minesweeper", models.GATRep, 1}, {"chameleon-filtered", models.GATRep, 1}},
		RunTimeDepths:  []int{16, 32, 64, 128, 256, 512, 1024},
	}
}

// paperModel is what all models of the paper profile share.
func paperModel(c *train.Config) {
	c.Hidden, c.Epochs, c.Patience = 256, 1000, 100
	if strings.HasPrefix(c.Model, models.GRAND) {
		c.Hidden, c.AttentionDim, c.Heads = 128, 64, 4
	}
}

// paperCandidates are the published depths with two learning rates and two dropouts.
func paperCandidates(dataset, model string) []train.Config {
	var out []train.Config
	for _, at := range paperLayers(dataset, model) {
		for _, slower := range []float64{1, 0.3} {
			for _, dropout := range []float64{0, 0.5} {
				out = append(out, with(model, func(c *train.Config) {
					paperModel(c)
					c.Dropout = dropout
					setDepth(c, at)
					c.LearningRate = rounded(slower*c.LearningRate, 6)
				}))
			}
		}
	}
	return out
}

// paperLayers are the published L_F and L_R; for GRAND, whose times are not published, and for plain models, some of their
// search range.
func paperLayers(dataset, model string) [][2]int {
	switch model {
	case models.GCN, models.GAT:
		return [][2]int{{2, 0}, {5, 0}}
	case models.GRAND:
		return [][2]int{{1, 0}, {4, 0}}
	case models.GRANDRep:
		return [][2]int{{1, 1}, {4, 2}}
	}
	for _, name := range []string{"table2", "table6"} {
		p := published[Performance](name)
		if k := p.column(dataset); k >= 0 {
			return [][2]int{p.row(model).Layers[k]}
		}
	}
	return nil
}

// depthRule says how deep chains are kept trainable and in the range of single precision.
const depthRule = "From 64 layers in one direction on, the bound on the weight is c = 51.2/L, and the learning rate 0.016/sqrt(L) at most: L reverse layers can grow what they are given by (1-c)^-L, and a step of the optimiser acts in all layers at once. Both were chosen on the validation metric."

// bound is the depthRule for c, and tame all of it.
func bound(c *train.Config) {
	if deepest := max(c.Forward, c.Reverse); deepest >= 64 {
		c.Lipschitz = min(c.Lipschitz, rounded(51.2/float64(deepest), 4))
	}
}

func tame(c *train.Config) {
	bound(c)
	if deepest := max(c.Forward, c.Reverse); deepest >= 64 {
		c.LearningRate = min(c.LearningRate, rounded(0.016/math.Sqrt(float64(deepest)), 5))
	}
}

// setDepth sets L_F and L_R, with c by the depthRule, or GRAND's T_F and T_R.
func setDepth(c *train.Config, at [2]int) {
	if strings.HasPrefix(c.Model, models.GRAND) {
		c.Time, c.ReverseTime = float64(at[0]), float64(at[1])
		return
	}
	c.Forward, c.Reverse = at[0], at[1]
	if c.HasReverse() {
		bound(c)
	}
}

// paperDepth is the setting of figure 2.
func paperDepth(_ string, forward, reverse int) train.Config {
	return with(models.GCNRep, func(c *train.Config) {
		paperModel(c)
		c.Forward, c.Reverse = forward, reverse
		tame(c)
	})
}

// paperSmoothness are the models of figure 3.
func paperSmoothness(string) []train.Config {
	out := []train.Config{with(models.GCNRep, func(c *train.Config) {
		paperModel(c)
		c.Forward, c.Reverse = 256, 1024
		tame(c)
	})}
	for _, layers := range []int{16, 32, 64} {
		out = append(out, with(models.GCN, func(c *train.Config) { paperModel(c); c.Forward = layers }))
	}
	return out
}
