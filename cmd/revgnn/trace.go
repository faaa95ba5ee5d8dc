package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/trained"
)

// traced is the JSON document of the command trace.
type traced struct {
	Dataset string             `json:"dataset"`
	Engine  string             `json:"engine"`
	Weights string             `json:"weights"`
	Model   string             `json:"model"`
	Config  train.Config       `json:"config"`
	Forward []train.Smoothness `json:"forward"`
	Reverse []train.Smoothness `json:"reverse"`
}

func (a *app) trace() *cobra.Command {
	c := &cobra.Command{Use: "trace --dataset NAME --weights FILE [flags]", Args: noArguments,
		Short: "Measure how smooth a trained model's features are after each layer",
		Long: "Measures over-smoothing layer by layer, forwards and backwards, in a model that 'revgnn train --out DIR' has\n" +
			"kept (DIR/split0.safetensors). Layer 0 is the encoded input. For the features X, [nodes, width], there are\n" +
			"  GSL             mean cosine similarity over all pairs of nodes; 1: all point in one direction\n" +
			"  Dirichlet       Dirichlet energy, 1/n Σ_i Σ_{j in N(i)} |x_i - x_j|²; 0: neighbours are equal\n" +
			"  MAD             mean average distance, 1 - cos(x_i, x_j), over neighbours; 0: neighbours point in one direction\n" +
			"  effective rank  exp of the entropy of X's normalised singular values; 1: all rows are multiples of one",
		Example: "  revgnn train --dataset GRAPH --model MODEL --splits 0 --out out/run\n" +
			"  revgnn trace --dataset GRAPH --weights out/run/split0.safetensors"}
	f := c.Flags()
	dataset, weights := f.String("dataset", "", "dataset: see 'revgnn datasets list', or a file or folder of your own"),
		f.String("weights", "", "the model's file, DIR/split<k>.safetensors of 'revgnn train --out DIR'")
	layers := f.IntSlice("layers", nil, "numbers of layers to measure after (default: all of a shallow model, else some)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *dataset == "" {
			return noDataset()
		}
		if *weights == "" {
			return usagef("no weights given: add --weights with a file of 'revgnn train --out'")
		}
		m, err := trained.Read(*weights)
		if err != nil {
			return err
		}
		e, g, err := a.prepare(c.Context(), a.progress(), *dataset)
		if err != nil {
			return err
		}
		if len(*layers) == 0 {
			*layers = train.Followed(max(m.Config.Forward, m.Config.Reverse))
		}
		t, err := m.Trace(e, g, *layers)
		if err != nil {
			return err
		}
		out := traced{Dataset: g.Name, Engine: e.Name, Weights: *weights, Model: m.Config.Model, Config: m.Config,
			Forward: train.SmoothnessOf(t.Forward), Reverse: train.SmoothnessOf(t.Reverse)}
		return a.show(out, func(w io.Writer) {
			fmt.Fprintf(w, "direction\tlayer\tGSL\tDirichlet\tMAD\teffective rank\n")
			for _, way := range []struct {
				name   string
				states []train.Smoothness
			}{{"forward", out.Forward}, {"reverse", out.Reverse}} {
				for _, s := range way.states {
					fmt.Fprintf(w, "%s\t%d\t%.4f\t%.4g\t%.4f\t%.2f\n", way.name, s.Layer, s.GSL, *s.Dirichlet, *s.MAD,
						*s.EffectiveRank)
				}
			}
		})
	}
	return c
}
