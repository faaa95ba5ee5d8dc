package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/revgnn/revgnn/pkg/files"
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

func (a *app) predict() *cobra.Command {
	c := &cobra.Command{Use: "predict --dataset NAME --weights FILE --out FILE.npz [flags]", Short: "Evaluate a model with given weights once, in training mode without dropout", Args: noArguments,
		Long: "Evaluates a model with given weights once, in training mode without dropout, and writes an .npz file with\nlogits [nodes, classes] ([nodes] for two classes), representation [nodes, width] (forward, then reverse), loss, and\nwith --gradients the loss's gradient grad.<name> by every parameter."}
	s := about(c, offer{takes: func(name string) bool { return !slices.Contains(trainingOnly, name) }})
	var (
		split     int
		from, to  string
		gradients bool
	)
	f := c.Flags()
	f.IntVar(&split, "split", 0, "split whose training nodes the loss is over")
	f.StringVar(&from, "weights", "", "weights, .npz or .safetensors, by PyTorch's names, with or without 'param.' before")
	f.BoolVar(&gradients, "gradients", false, "also write the loss's gradients")
	f.StringVar(&to, "out", "", "the .npz file to write")
	c.RunE = func(c *cobra.Command, _ []string) error {
		config, err := s.config()
		if err != nil {
			return err
		}
		if from == "" {
			return usagef("no weights given: add --weights with a .npz or .safetensors file")
		}
		if !strings.EqualFold(filepath.Ext(to), ".npz") {
			return usagef("--out is %q: give the name of an .npz file to write", to)
		}
		if err := files.Writable(filepath.Dir(to)); err != nil {
			return err
		}
		read, err := weights.Read(from)
		if err != nil {
			return err
		}
		e, g, err := a.prepare(c.Context(), a.progress(), s.dataset)
		if err != nil {
			return err
		}
		if err := sweep.CheckSplits([]int{split}, g); err != nil {
			return asUsage(err)
		}
		wanted, names, err := weights.For(config.Config, g.NumFeatures, g.NumClasses, read)
		if err != nil {
			return err
		}
		p, err := train.Predict(e, g, split, config, wanted, gradients)
		if err != nil {
			return err
		}
		if c.Context().Err() != nil {
			return errors.New("interrupted; nothing was written")
		}
		arrays := weights.Prediction(p, g.NumNodes, names)
		if err := npz.Write(to, arrays); err != nil {
			return err
		}
		out := prediction{g.Name, config.Model, config.Resolved(), e.Name, split, train.Number(p.Loss), to, map[string][]int{}}
		for _, n := range arrays {
			out.Arrays[n.Name] = append([]int{}, n.Shape...)
		}
		return a.show(out, func(w io.Writer) {
			fmt.Fprintf(w, "loss\t%.6f\n", p.Loss)
			for _, n := range arrays {
				fmt.Fprintf(w, "%s\t%v\n", n.Name, n.Shape)
			}
			fmt.Fprintf(w, "\nwritten to %s\n", to)
		})
	}
	return c
}
