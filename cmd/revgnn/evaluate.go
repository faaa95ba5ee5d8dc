package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/npz"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/trained"
)

// prediction is the JSON document of predict in training mode.
type prediction struct {
	Dataset string       `json:"dataset"`
	Model   string       `json:"model"`
	Config  train.Config `json:"config"`
	Engine  string       `json:"engine"`
	Split   int          `json:"split"`
	Loss    train.Number `json:"loss"`
	Out     string       `json:"out"`
	// Arrays has the shapes of the arrays in the file.
	Arrays map[string][]int `json:"arrays"`
}

// evaluate evaluates the model that the flags describe in training mode (without dropout), and writes what can be
// compared with PyTorch.
func (a *app) evaluate(ctx context.Context, s *subject, o evaluation) error {
	if s.dataset == "" {
		return noDataset()
	}
	if err := o.check(".npz"); err != nil {
		return err
	}
	file, err := trained.ReadFile(o.from)
	if err != nil {
		return err
	}
	// A file of 'revgnn train --out' has the settings. Flags replace only those that they name.
	var config train.Config
	own, notOwn := file.Model()
	if notOwn == nil && (!s.command.Flags().Changed("model") || s.model == own.Config.Model) {
		config, err = s.changed(own.Config)
	} else {
		config, err = s.config()
	}
	if err != nil {
		return err
	}
	e, g, err := a.prepare(ctx, a.progress(), s.dataset)
	if err != nil {
		return err
	}
	if err := runs.HasSplits([]int{o.split}, g); err != nil {
		return asUsage(err)
	}
	out, arrays, err := o.evaluate(e, g, config, file.Parameters)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errors.New("interrupted; nothing was written")
	}
	if err := npz.Write(o.to, arrays); err != nil {
		return err
	}
	return a.show(out, func(w io.Writer) { predictionTable(w, out, arrays) })
}

func (o evaluation) evaluate(e *engine.Engine, g *graphs.Graph, c train.Config,
	read map[string]train.Array) (out prediction, arrays []npz.Named, err error) {
	wanted, names, err := trained.Pick(c.Config, g.NumFeatures, g.NumClasses, read)
	if err != nil {
		return out, nil, err
	}
	p, err := train.Predict(e, g, o.split, c, wanted, o.gradients)
	if err != nil {
		return out, nil, err
	}
	arrays = trained.Compared(p, g.NumNodes, names)
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
