package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/npz"
	"github.com/revgnn/revgnn/pkg/sweep"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/weights"
)

// prediction is the JSON document of predict.
type prediction struct {
	Dataset string       `json:"dataset"`
	Model   string       `json:"model"`
	Config  train.Config `json:"config"`
	Engine  string       `json:"engine"`
	Split   int          `json:"split"`
	Loss    train.Number `json:"loss"`
	Out     string       `json:"out"`
	// Arrays in the file, by name, with their shapes.
	Arrays map[string][]int `json:"arrays"`
}

// trainingOnly are the settings that play no part in an evaluation.
var trainingOnly = []string{"dropout", "lr", "weight-decay", "epochs", "patience", "seed"}

const predictLong = "Evaluates a model with given weights once, in training mode without dropout, " +
	"and writes an .npz file with\n" +
	"logits [nodes, classes] ([nodes] for two classes), representation [nodes, width] (forward, then reverse), " +
	"loss, and\n" +
	"with --gradients the loss's gradient grad.<name> by every parameter."

func (a *app) predict() *cobra.Command {
	c := &cobra.Command{Use: "predict --dataset NAME --weights FILE --out FILE.npz [flags]", Long: predictLong,
		Short: "Evaluate a model with given weights once, in training mode without dropout", Args: noArguments}
	s := about(c, offer{takes: func(s models.Setting) bool { return !slices.Contains(trainingOnly, s.Name) }})
	var o evaluation
	f := c.Flags()
	f.IntVar(&o.split, "split", 0, "split whose training nodes the loss is over")
	f.StringVar(&o.from, "weights", "",
		"weights, .npz or .safetensors, by PyTorch's names, with or without 'param.' before")
	f.BoolVar(&o.gradients, "gradients", false, "also write the loss's gradients")
	f.StringVar(&o.to, "out", "", "the .npz file to write")
	c.RunE = func(c *cobra.Command, _ []string) error {
		config, err := s.config()
		if err != nil {
			return err
		}
		if err := o.check(); err != nil {
			return err
		}
		read, err := weights.Read(o.from)
		if err != nil {
			return err
		}
		e, g, err := a.prepare(c.Context(), a.progress(), s.dataset)
		if err != nil {
			return err
		}
		if err := sweep.CheckSplits([]int{o.split}, g); err != nil {
			return asUsage(err)
		}
		out, arrays, err := o.evaluate(e, g, config, read)
		if err != nil {
			return err
		}
		if c.Context().Err() != nil {
			return errors.New("interrupted; nothing was written")
		}
		if err := npz.Write(o.to, arrays); err != nil {
			return err
		}
		return a.show(out, func(w io.Writer) { predictionTable(w, out, arrays) })
	}
	return c
}

// evaluation is what predict is to do, by its flags.
type evaluation struct {
	split     int
	from, to  string // files: the weights, and the arrays to write
	gradients bool
}

// check tells what is wrong with the files' names, before anything is read.
func (o evaluation) check() error {
	if o.from == "" {
		return usagef("no weights given: add --weights with a .npz or .safetensors file")
	}
	if !strings.EqualFold(filepath.Ext(o.to), ".npz") {
		return usagef("--out is %q: give the name of an .npz file to write", o.to)
	}
	return files.Writable(filepath.Dir(o.to))
}

// evaluate computes the arrays to write, and the document about them.
func (o evaluation) evaluate(e *engine.Engine, g *graphs.Graph, c train.Config,
	read map[string]train.Array) (out prediction, arrays []npz.Named, err error) {
	wanted, names, err := weights.For(c.Config, g.NumFeatures, g.NumClasses, read)
	if err != nil {
		return out, nil, err
	}
	p, err := train.Predict(e, g, o.split, c, wanted, o.gradients)
	if err != nil {
		return out, nil, err
	}
	arrays = weights.Prediction(p, g.NumNodes, names)
	out = prediction{g.Name, c.Model, c.Resolved(), e.Name, o.split, train.Number(p.Loss), o.to, map[string][]int{}}
	for _, n := range arrays {
		out.Arrays[n.Name] = append([]int{}, n.Shape...)
	}
	return out, arrays, nil
}

func predictionTable(w io.Writer, out prediction, arrays []npz.Named) {
	fmt.Fprintf(w, "loss\t%.6f\n", out.Loss)
	for _, n := range arrays {
		fmt.Fprintf(w, "%s\t%v\n", n.Name, n.Shape)
	}
	fmt.Fprintf(w, "\nwritten to %s\n", out.Out)
}
