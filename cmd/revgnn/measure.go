package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/results"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/weights"
)

func (a *app) invert() *cobra.Command {
	c := &cobra.Command{Use: "invert --dataset NAME [flags]", Short: "Measure how well reverse layers undo forward layers", Args: noArguments}
	s := about(c, invertSettings)
	a.recorded(c)
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		config, err := s.config()
		if err != nil {
			return err
		}
		if !config.HasReverse() {
			return usagef("model %s has no reverse layers to invert with: choose %s+rep", config.Model, config.Model)
		}
		record, err := a.recorder(results.Invert)
		if err != nil {
			return err
		}
		defer record.close(&err)
		e, g, err := a.prepare(c.Context(), a.progress(), s.dataset)
		if err != nil {
			return err
		}
		record.of(e, g, config.Model, config.Resolved(), config.Seed)
		inversion, err := train.Invert(c.Context(), e, g, config)
		record.whole(c.Context(), inversion, err)
		if err != nil {
			return err
		}
		return a.show(inversion, func(w io.Writer) {
			fmt.Fprintf(w, "%s\t%s\t%s\n\n", inversion.Graph, inversion.Model, inversion.Engine)
			fmt.Fprintf(w, "mean absolute error\t%.3g\nmean absolute input\t%.3g\n\niteration\tresidual\n", inversion.MeanAbsError, inversion.MeanAbsInput)
			for i, r := range inversion.Residual {
				fmt.Fprintf(w, "%d\t%.3g\n", i+1, r)
			}
		})
	}
	return c
}

// invertSettings are the flags of invert, with the defaults of the paper's table 4.
func invertSettings(f *pflag.FlagSet, c *train.Config) {
	c.Forward, c.Lipschitz, c.MaxIterations = 64, 0.99999, 8
	f.IntVar(&c.Forward, "depth", c.Forward, "layers forwards, and as many backwards")
	f.IntVar(&c.Hidden, "hidden", c.Hidden, "width of the layers")
	f.Float64Var(&c.Lipschitz, "lipschitz", c.Lipschitz, "Frobenius norm that the weight is scaled to, below 1")
	f.IntVar(&c.MaxIterations, "max-iterations", c.MaxIterations, "fixed-point iterations per layer")
	f.IntVar(&c.Heads, "heads", c.Heads, "attention heads, averaged")
	diffusionSettings(f, c)
	f.Uint64Var(&c.Seed, "seed", c.Seed, "seed of the parameters")
}

func (a *app) bench() *cobra.Command {
	c := &cobra.Command{Use: "bench --dataset NAME [flags]", Short: "Time training steps", Args: noArguments}
	s := about(c, modelSettings, benchSettings)
	from := c.Flags().String("weights", "", "train on from these weights, .npz or .safetensors, by PyTorch's names; without, every step starts from the seed's")
	a.recorded(c)
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		config, err := s.config()
		if err != nil {
			return err
		}
		if config.Epochs < 2 {
			return usagef("epochs is %d: a benchmark needs 2 at least, since the first compiles the program", config.Epochs)
		}
		var read map[string]train.Array
		if *from != "" {
			if read, err = weights.Read(*from); err != nil {
				return err
			}
		}
		record, err := a.recorder(results.Bench)
		if err != nil {
			return err
		}
		defer record.close(&err)
		e, g, err := a.prepare(c.Context(), a.progress(), s.dataset)
		if err != nil {
			return err
		}
		start, err := startingFrom(read, config, g)
		if err != nil {
			return err
		}
		record.of(e, g, config.Model, benched{config.Resolved(), *from}, config.Seed)
		b, err := train.Bench(c.Context(), e, g, config, start)
		record.whole(c.Context(), b, err)
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
	}
	return c
}

// benched is the configuration of a benchmark in its record.
type benched struct {
	train.Config
	Weights string `json:"weights,omitempty"`
}

// startingFrom picks a model's parameters out of those read from a file; nil if none were read.
func startingFrom(read map[string]train.Array, c train.Config, g *graphs.Graph) (map[string]train.Array, error) {
	if read == nil {
		return nil, nil
	}
	m, err := models.Unbound(c.Config, g.NumFeatures, g.NumClasses)
	if err != nil {
		return nil, err
	}
	wanted, _, err := weights.For(m, read)
	return wanted, err
}

// benchSettings are trainSettings with few epochs.
func benchSettings(f *pflag.FlagSet, c *train.Config) {
	c.Epochs = 10
	trainSettings(f, c)
}
