package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/train"
)

// subject is what most commands are about: a dataset and a model with its settings.
type subject struct {
	dataset, model string
	command        *cobra.Command
	settings       func(*pflag.FlagSet, *train.Config)
}

// about adds --dataset, --model and settings to a command.
func about(c *cobra.Command, settings ...func(*pflag.FlagSet, *train.Config)) *subject {
	s := &subject{command: c, settings: func(f *pflag.FlagSet, c *train.Config) {
		for _, add := range settings {
			add(f, c)
		}
	}}
	f := c.Flags()
	f.StringVar(&s.dataset, "dataset", "", "dataset: "+strings.Join(datasets.Names(), ", ")+", an .npz file, or a folder with edges.csv and nodes.csv")
	f.StringVar(&s.model, "model", models.GCNRep, "model: "+strings.Join(models.Names(), ", "))
	shown := train.Default(models.GCNRep)
	s.settings(f, &shown)
	f.SortFlags = false
	return s
}

// config is the model's default with those settings that were given.
func (s *subject) config() (train.Config, error) {
	if s.dataset == "" {
		return train.Config{}, usagef("no dataset given: add --dataset with one of %s, an .npz file, or a folder", strings.Join(datasets.Names(), ", "))
	}
	c := train.Default(s.model)
	fresh := pflag.NewFlagSet("", pflag.ContinueOnError)
	s.settings(fresh, &c)
	var err error
	s.command.Flags().Visit(func(f *pflag.Flag) {
		if own := fresh.Lookup(f.Name); own != nil && err == nil {
			err = own.Value.Set(f.Value.String())
		}
	})
	if err == nil {
		err = c.Validate()
	}
	return c, asUsage(err)
}

// modelSettings are the flags of a model.
func modelSettings(f *pflag.FlagSet, c *train.Config) {
	f.IntVar(&c.Forward, "forward", c.Forward, "forward layers")
	f.IntVar(&c.Reverse, "reverse", c.Reverse, "reverse layers")
	f.IntVar(&c.Hidden, "hidden", c.Hidden, "width of the layers")
	f.IntVar(&c.Heads, "heads", c.Heads, "attention heads, averaged")
	f.Float64Var(&c.Lipschitz, "lipschitz", c.Lipschitz, "bound on the Frobenius norm of the weight, below 1")
	f.StringVar(&c.Normalise, "normalise", c.Normalise, "how the bound is kept: project (after every step) or reparametrise (inside the model)")
	f.Float64Var(&c.Tolerance, "tolerance", c.Tolerance, "mean absolute change at which a fixed-point iteration ends")
	f.IntVar(&c.MaxIterations, "max-iterations", c.MaxIterations, "most fixed-point iterations per layer")
	f.StringVar(&c.Adjoint, "adjoint", c.Adjoint, "gradient of a reverse layer: implicit (of the fixed point) or unrolled (of the iterations)")
	f.StringVar(&c.Norm, "norm", c.Norm, "normalisation before the head: none, layer or batch")
	f.BoolVar(&c.NoBias, "no-bias", c.NoBias, "leave the bias out of the layers of gcn and gat, as the paper's formula does (the authors' code has it)")
	f.IntVar(&c.HeadLayers, "head-layers", c.HeadLayers, "linear layers in the head (default 0: 1 with reverse layers, 2 without)")
	diffusionSettings(f, c)
}

// diffusionSettings are the flags of GRAND.
func diffusionSettings(f *pflag.FlagSet, c *train.Config) {
	f.Float64Var(&c.Time, "time", c.Time, "GRAND: time to diffuse forwards (default 3)")
	f.Float64Var(&c.ReverseTime, "reverse-time", c.ReverseTime, "GRAND+ReP: time to diffuse backwards (default 1)")
	f.StringVar(&c.Solver, "solver", c.Solver, "GRAND: "+strings.Join(solve.MethodNames(), ", ")+" (default rk4)")
	f.Float64Var(&c.Step, "step", c.Step, "GRAND: step of euler and rk4 (default 0.5)")
	f.Float64Var(&c.TolScale, "tol-scale", c.TolScale, "GRAND: tolerance of dopri5, times 1e-7 absolute and 1e-9 relative (default 1000)")
	f.IntVar(&c.AttentionDim, "attention-dim", c.AttentionDim, "GRAND: width of queries and keys, of all heads together (default 16)")
	f.IntVar(&c.MaxEvaluations, "max-evaluations", c.MaxEvaluations, "GRAND: most evaluations of the diffusion in either direction (default 5000)")
}

// trainSettings are the flags of training steps.
func trainSettings(f *pflag.FlagSet, c *train.Config) {
	f.Float64Var(&c.Dropout, "dropout", c.Dropout, "probability of dropping a feature behind the encoder")
	f.Float64Var(&c.LearningRate, "lr", c.LearningRate, "learning rate of Adam")
	f.Float64Var(&c.WeightDecay, "weight-decay", c.WeightDecay, "weight decay, added to the gradient")
	f.IntVar(&c.Epochs, "epochs", c.Epochs, "most full-batch steps")
	f.Uint64Var(&c.Seed, "seed", c.Seed, "seed of the initial parameters and of dropout; split k uses seed + k")
}

// stopSettings are the flags of early stopping.
func stopSettings(f *pflag.FlagSet, c *train.Config) {
	f.IntVar(&c.Patience, "patience", c.Patience, "steps without a better validation metric before stopping; 0 never stops early")
}

// kinds says what a flag of a type wants.
var kinds = map[string]string{"int": "a whole number", "uint64": "a whole number from 0", "float64": "a number", "bool": "true or false"}

// flagError makes a sentence of what pflag has to say.
func flagError(c *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		wrong   *pflag.InvalidValueError
		see     = fmt.Sprintf("see '%s --help'", c.CommandPath())
		text    = err.Error()
	)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return err
	case errors.As(err, &unknown):
		text = fmt.Sprintf("%s has no flag %s", c.CommandPath(), dashed(unknown.GetSpecifiedName()))
	case errors.As(err, &missing):
		text = fmt.Sprintf("--%s needs a value", missing.GetFlag().Name)
	case errors.As(err, &wrong):
		text = fmt.Sprintf("--%s is %q: it must be %s", wrong.GetFlag().Name, wrong.GetValue(), kinds[wrong.GetFlag().Value.Type()])
	}
	return usagef("%s; %s", text, see)
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// noArguments refuses arguments that are no flags.
func noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("'%s' takes no argument such as %q: settings are flags; see '%s --help'", c.CommandPath(), args[0], c.CommandPath())
	}
	return nil
}
