package paper

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/train"
)

// Profile is a set of configurations for all tables and figures.
type Profile struct {
	Name string
	// About is said on every result.
	About string
	// Datasets that are run unless others are asked for.
	Datasets []string
	// Splits of tables 2, 3 and 6; on the first Tried of them settings are chosen among the Candidates.
	Splits     []int
	Tried      int
	Candidates func(dataset, model string) []train.Config
	// InversionHidden is the width in table 4 and figures 5 and 6.
	InversionHidden int
	// Boards are the models of figures 1 and 4: GCN+ReP, and a plain GCN.
	Boards [2]train.Config
	// Depths of figure 2 in one direction, the settings at each, and the splits.
	Depths      []int
	Depth       func(dataset string, forward, reverse int) train.Config
	DepthSplits []int
	DepthNote   string
	// Smoothness are the models of figure 3: GCN+ReP, and plain GCNs of 16, 32 and 64 layers.
	Smoothness     func(dataset string) []train.Config
	SmoothnessNote string
	// RunTimes are timed in figure 6 at RunTimeDepths reverse layers.
	RunTimes      []RunTime
	RunTimeDepths []int
}

// ParseProfile returns a profile by its name.
func ParseProfile(name string) (Profile, error) {
	for _, p := range []Profile{Quick(), Paper()} {
		if p.Name == name {
			return p, nil
		}
	}
	return Profile{}, fmt.Errorf("unknown profile %q: choose quick or paper", name)
}

// with changes a model's default settings.
func with(model string, change func(c *train.Config)) train.Config {
	c := train.Default(model)
	change(&c)
	return c
}

// firstSplits are the splits 0 to n-1.
func firstSplits(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
