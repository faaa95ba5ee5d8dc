package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/trained"
)

type evaluated struct {
	Dataset string               `json:"dataset"`
	Engine  string               `json:"engine"`
	Weights string               `json:"weights"`
	Model   string               `json:"model"`
	Classes []string             `json:"classes"`
	Parts   []trained.Evaluation `json:"parts"`
	About   trained.About        `json:"trained"`
}

func (a *app) evaluate() *cobra.Command {
	c := &cobra.Command{Use: "evaluate --dataset NAME --weights FILE [flags]", Args: noArguments,
		Short: "Score a trained model on a graph whose nodes have classes",
		Long: "Scores a model that 'revgnn train --out DIR' has kept (DIR/split0.safetensors) on a graph whose\n" +
			"nodes have classes: all measures, the confusion matrix and the expected calibration error.\n\n" +
			"The graph needs the columns that the model was trained on. Classes are matched by name, and a node\n" +
			"of a class that the model does not know is an error. Two classes are told apart at a probability of\n" +
			"0.5 in the confusion matrix and the accuracy, unless the model was trained for a measure with a\n" +
			"threshold of its own, which was chosen on validation nodes.",
		Example: "  revgnn train --dataset GRAPH --model MODEL --splits 0 --out out/run\n" +
			"  revgnn evaluate --dataset OTHER --weights out/run/split0.safetensors"}
	f := c.Flags()
	s := kept(f)
	part := f.String("part", "", "nodes to score it on: "+strings.Join(trained.Parts, ", ")+" (default: test on the "+
		"graph of the training, else labelled)")
	split := f.Int("split", -1, "split that --part is of (default: the training's on its graph, else 0)")
	f.Lookup("split").DefValue = "0" // so that the help does not name a second default
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := s.given(); err != nil {
			return err
		}
		switch {
		case *part != "" && !slices.Contains(trained.Parts, *part):
			return usagef("--part is %q: choose one of %s", *part, strings.Join(trained.Parts, ", "))
		case c.Flags().Changed("split") && *split < 0:
			return usagef("--split is %d: give the number of a split, from 0", *split)
		}
		progress := a.progress()
		m, e, g, err := a.open(c.Context(), progress, s.weights, s.dataset)
		if err != nil {
			return err
		}
		parts, err := m.Evaluate(e, g, *part, *split)
		if err != nil {
			return err
		}
		for _, note := range parts[0].Notes {
			progress.line("note: %s", note)
		}
		if c.Context().Err() != nil {
			return errors.New("interrupted; nothing was written")
		}
		if parts[0].Part == "labelled" {
			progress.line("note: %s is not the graph that the model was trained on: if it has nodes that the model was "+
				"trained on, this is no test", g.Name)
		}
		out := evaluated{Dataset: g.Name, Engine: e.Name, Weights: s.weights, Model: m.Config.Model, Classes: m.Classes,
			Parts: parts, About: m.About}
		return a.show(out, func(w io.Writer) { evaluatedTable(w, out) })
	}
	return c
}

func evaluatedTable(w io.Writer, out evaluated) {
	fmt.Fprintf(w, "%s, trained on %s, split %d, epoch %d\n\n", out.Model, out.About.Dataset, out.About.Split,
		out.About.BestEpoch)
	var headings, undefined []string
	var columns []func(string) float64
	for _, p := range out.Parts {
		headings = append(headings, p.Part)
		columns = append(columns, func(name string) float64 { return float64(p.Measures[name]) })
		undefined = append(undefined, p.Undefined...)
	}
	measuresTable(w, headings, columns, out.About.Thresholds, undefined)
	for _, p := range out.Parts {
		of := ""
		if p.Split >= 0 {
			of = fmt.Sprintf(", split %d", p.Split)
		}
		fmt.Fprintf(w, "\n%s%s\t%d nodes", p.Part, of, p.Nodes)
		if p.Training > 0 {
			fmt.Fprintf(w, ", of which the model was trained on %d", p.Training)
		}
		fmt.Fprintf(w, "\nexpected calibration error\t%.4f\n", p.CalibrationError)
		if most := 12; len(out.Classes) > most {
			fmt.Fprintf(w, "(--json has the confusion matrix of %d classes)\n", len(out.Classes))
			continue
		}
		if len(out.Classes) == 2 {
			fmt.Fprintf(w, "taken for %s above a probability of\t%.4g\n", files.Printable(out.Classes[1]), out.About.Threshold())
		}
		fmt.Fprint(w, "class\tnodes")
		for _, name := range out.Classes {
			fmt.Fprintf(w, "\ttaken for %s", files.Printable(name))
		}
		for k, name := range out.Classes {
			fmt.Fprintf(w, "\n%s\t%d", files.Printable(name), p.ByClass[k])
			for _, n := range p.Confusion[k] {
				fmt.Fprintf(w, "\t%d", n)
			}
		}
		fmt.Fprintln(w)
	}
}
