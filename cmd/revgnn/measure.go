package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/trained"
)

func (a *app) invert() *cobra.Command {
	c := &cobra.Command{Use: "invert --dataset NAME [flags]",
		Short: "Measure how well reverse layers undo forward layers", Args: noArguments}
	s := about(c, invertOffer())
	a.recorded(c.Flags())
	c.RunE = func(c *cobra.Command, _ []string) error {
		config, err := s.config()
		if err != nil {
			return err
		}
		return a.recording(c.Context(), s.dataset, func(r *recorder) error {
			inversion, err := measure(c.Context(), r, runs.Invert, config, config.Resolved().Values(),
				func() (*train.Inversion, error) { return train.Invert(c.Context(), r.engine, r.graph, config) })
			if err != nil {
				return err
			}
			return a.show(inversion, func(w io.Writer) {
				fmt.Fprintf(w, "%s\t%s\t%s\n\n", inversion.Graph, inversion.Model, inversion.Engine)
				fmt.Fprintf(w, "mean absolute error\t%.3g\nmean absolute input\t%.3g\n\niteration\tresidual\n",
					inversion.MeanAbsError, inversion.MeanAbsInput)
				for i, r := range inversion.Residual {
					fmt.Fprintf(w, "%d\t%.3g\n", i+1, r)
				}
			})
		})
	}
	return c
}

// invertOffer has the defaults of the paper's table 4. It leaves out what has no effect on an inversion: dropout, and
// the settings of classifier and training. The seed draws the weights.
func invertOffer() offer {
	without := []string{"dropout", "normalise", "layer-init", "tolerance", "adjoint", "norm", "no-bias", "head-layers",
		"lr", "weight-decay", "epochs", "patience", "metric", "optimiser", "schedule", "warmup", "clip-norm",
		"label-smoothing", "class-weights"}
	return offer{of: func(k models.Kind) bool { return k.Plain != "" }, refuse: train.Invertible,
		takes:    func(s models.Setting) bool { return !s.Reverse && !slices.Contains(without, s.Name) },
		flags:    map[string]string{"forward": "depth"},
		helps:    map[string]string{"forward": "layers forwards, and as many backwards"},
		defaults: map[string]string{"forward": "64", "lipschitz": "0.99999", "max-iterations": "8"}}
}

func (a *app) bench() *cobra.Command {
	c := &cobra.Command{Use: "bench --dataset NAME [flags]", Short: "Time training steps", Args: noArguments}
	without := []string{"patience", "metric", "schedule", "warmup"}
	s := about(c, offer{takes: func(s models.Setting) bool { return !slices.Contains(without, s.Name) },
		defaults: map[string]string{"epochs": "10"}})
	from := c.Flags().String("weights", "", "train on from these weights, .npz or .safetensors, by PyTorch's names; "+
		"without, every step starts from the seed's")
	a.recorded(c.Flags())
	c.RunE = func(c *cobra.Command, _ []string) error {
		config, err := s.config()
		if err != nil {
			return err
		}
		if config.Epochs < 2 {
			return usagef("epochs is %d: a benchmark needs 2 at least, since the first compiles the program",
				config.Epochs)
		}
		var read map[string]train.Array
		if *from != "" {
			if read, err = trained.ReadWeights(*from); err != nil {
				return err
			}
		}
		return a.recording(c.Context(), s.dataset, func(r *recorder) error {
			var start map[string]train.Array
			settings := config.Resolved().Values()
			if read != nil {
				settings["weights"] = *from
				features, err := train.Features(r.graph, 0, config)
				if err != nil {
					return err
				}
				if start, _, err = trained.Pick(config, features, r.graph.NumClasses, read); err != nil {
					return err
				}
			}
			b, err := measure(c.Context(), r, runs.Bench, config, settings,
				func() (*train.Benchmark, error) { return train.Bench(c.Context(), r.engine, r.graph, config, start) })
			if err != nil {
				return err
			}
			return a.show(b, func(w io.Writer) {
				fmt.Fprintf(w, "%s\t%s\t%s\n\n", b.Graph, b.Model, b.Engine)
				fmt.Fprintf(w, "seconds per epoch\t%.4f\t(median of %d)\n", b.EpochSeconds, b.Epochs-1)
				fmt.Fprintf(w, "seconds to compile\t%.2f\n", b.CompileSeconds)
				fmt.Fprintf(w, "iterations per layer\t%.2f\t(adjoint %.2f)\n", b.Iterations.Solve, b.Iterations.Adjoint)
				fmt.Fprintf(w, "loss, first and last step\t%.5g\t%.5g\n", b.Losses[0], b.Losses[len(b.Losses)-1])
				fmt.Fprintf(w, "peak memory\t%s\n", machine.Bytes(b.PeakRSS))
			})
		})
	}
	return c
}
