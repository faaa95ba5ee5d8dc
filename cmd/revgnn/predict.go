package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/floats"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/npz"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
	"github.com/revgnn/revgnn/pkg/trained"
)

type predicted struct {
	Dataset string        `json:"dataset"`
	Nodes   int           `json:"nodes"`
	Engine  string        `json:"engine"`
	Weights string        `json:"weights"`
	Out     string        `json:"out"`
	Vectors string        `json:"embeddings,omitempty"` // the file of --embeddings
	Classes []string      `json:"classes"`
	Model   string        `json:"model"`
	Config  train.Config  `json:"config"`
	About   trained.About `json:"trained"`
}

// trainingOnly lists settings that matter only in training.
var trainingOnly = []string{"dropout", "lr", "weight-decay", "epochs", "patience", "seed", "metric", "optimiser",
	"schedule", "warmup", "clip-norm"}

const predictLong = "Predicts the classes of a graph's nodes with a model that 'revgnn train --out DIR' trained and kept:\n" +
	"DIR/split0.safetensors holds the parameters of its best epoch, and says which model they are of. The graph needs the\n" +
	"columns that the model was trained on, and neither labels nor splits. What training draws at\n" +
	"random, such as dropout, is left out. With --unlabelled, only nodes are written whose class is not known.\n\n" +
	"The file to write is\n" +
	"  .csv: a row for each node, with the columns id and then the probability of each class by its name;\n" +
	"  .npz: probabilities [nodes, classes], logits [nodes, classes] ([nodes] for two classes), and representation\n" +
	"        [nodes, width], what the model's last layer reads.\n" +
	"--embeddings, also without --out, writes the representation: a .csv with the columns id, e0, e1 and so\n" +
	"on, or an .npz with the array representation.\n\n" +
	"To compare with PyTorch: with --gradients, --split, --model or one of the settings below it, the model is that of the\n" +
	"flags instead, with weights by PyTorch's names (.npz or .safetensors), and is evaluated in training mode without\n" +
	"dropout. (A file of 'revgnn train --out' keeps its own settings, but for those that flags name.) The file to write\n" +
	"is an .npz then, with logits, representation (forward, then reverse), the loss over the split's training nodes, and\n" +
	"with --gradients the loss's gradient grad.<name> by every parameter."

func (a *app) predict() *cobra.Command {
	c := &cobra.Command{Use: "predict --dataset NAME --weights FILE --out FILE [flags]", Long: predictLong,
		Short: "Predict the classes of a graph's nodes with a trained model", Args: noArguments,
		Example: "  revgnn train --dataset GRAPH --model MODEL --splits 0 --out out/run\n" +
			"  revgnn predict --dataset OTHER --weights out/run/split0.safetensors --out predictions.csv"}
	s := about(c, offer{takes: func(s models.Setting) bool { return !slices.Contains(trainingOnly, s.Name) }})
	o := predicting{}
	f := c.Flags()
	f.IntVar(&o.split, "split", 0, "split whose training nodes the loss is over, to compare with PyTorch")
	f.StringVar(&o.from, "weights", "", "the model's file, DIR/split<k>.safetensors of 'revgnn train --out DIR'; "+
		"to compare with PyTorch, weights in .npz or .safetensors, by PyTorch's names, with or without 'param.' before")
	f.BoolVar(&o.gradients, "gradients", false, "evaluate as in training, and write the loss's gradients")
	f.StringVar(&o.to, "out", "", "the .csv or .npz file to write")
	f.StringVar(&o.embeddings, "embeddings", "", "a .csv or .npz file to write the nodes' representations to")
	f.BoolVar(&o.unlabelled, "unlabelled", false, "write the nodes alone whose class is not known")
	c.RunE = func(c *cobra.Command, _ []string) error {
		// If the flags describe a model, or ask for gradients, the model is evaluated in training mode (without dropout).
		compare, formats := false, []string{".csv", ".npz"}
		f.Visit(func(flag *pflag.Flag) { // those that were given
			_, setting := flag.Value.(*settingValue)
			compare = compare || setting || slices.Contains([]string{"model", "split", "gradients"}, flag.Name)
		})
		if compare {
			formats = formats[1:]
		}
		switch {
		case compare && (o.unlabelled || o.embeddings != ""):
			return usagef("--unlabelled and --embeddings are for a model's own file: leave them out to compare with " +
				"PyTorch")
		case o.to != "" && o.to == o.embeddings:
			return usagef("--out and --embeddings are both %s: give two names", o.to)
		case s.dataset == "":
			return noDataset()
		case o.from == "":
			return usagef("no weights given: add --weights with a file of 'revgnn train --out', or to compare with " +
				"PyTorch with a .npz or .safetensors file")
		}
		for _, file := range []struct{ flag, name string }{{"out", o.to}, {"embeddings", o.embeddings}} {
			switch {
			case file.name == "" && (file.flag == "embeddings" || o.embeddings != ""):
			case !slices.Contains(formats, strings.ToLower(filepath.Ext(file.name))):
				return usagef("--%s is %q: give the name of a file to write that ends in %s", file.flag, file.name,
					strings.Join(formats, " or "))
			default:
				if err := files.Writable(filepath.Dir(file.name)); err != nil {
					return err
				}
			}
		}
		if compare {
			return a.compare(c.Context(), s, o)
		}
		progress := a.progress()
		m, e, g, err := a.open(c.Context(), progress, o.from, s.dataset)
		if err != nil {
			return err
		}
		p, err := m.Predict(e, g)
		if err != nil {
			return err
		}
		for _, note := range p.Notes {
			progress.line("note: %s", note)
		}
		if c.Context().Err() != nil {
			return errors.New("interrupted; nothing was written")
		}
		if o.unlabelled {
			var nodes []int
			for i := range g.NumNodes {
				if len(g.Labels) == 0 || g.Labels[i] == graphs.Unlabelled {
					nodes = append(nodes, i)
				}
			}
			if p = p.Only(nodes); len(p.IDs) == 0 {
				return fmt.Errorf("every node of %s has a class: leave out --unlabelled to write them all", s.dataset)
			}
		}
		if o.to != "" {
			if err := p.Write(o.to); err != nil {
				return err
			}
		}
		if o.embeddings != "" {
			if err := p.WriteEmbeddings(o.embeddings); err != nil {
				return err
			}
		}
		out := predicted{Dataset: g.Name, Nodes: len(p.IDs), Engine: e.Name, Weights: o.from, Out: o.to,
			Vectors: o.embeddings,
			Classes: m.Classes, Model: m.Config.Model, Config: m.Config, About: m.About}
		return a.show(out, func(w io.Writer) { predictedTable(w, out, p) })
	}
	return c
}

type predicting struct {
	split      int
	from       string // the file of weights
	to         string // the file to write
	embeddings string
	gradients  bool
	unlabelled bool
}

// predictedTable has a row for each class, with the number of nodes for which it is the most probable one, or which the
// model's threshold takes for it.
func predictedTable(w io.Writer, out predicted, p *trained.Prediction) {
	fmt.Fprintf(w, "%s, trained on %s, split %d, epoch %d\n\n", out.Model, out.About.Dataset, out.About.Split,
		out.About.BestEpoch)
	counts, threshold := make([]int, len(p.Classes)), out.About.Threshold()
	for i := range p.IDs {
		row := p.Probabilities[i*len(p.Classes) : (i+1)*len(p.Classes)]
		taken := floats.MaxIdx(row)
		if threshold != metrics.Even {
			taken = 0
			if row[1] > threshold {
				taken = 1
			}
		}
		counts[taken]++
	}
	heading := "likeliest for nodes"
	if threshold != metrics.Even {
		heading = fmt.Sprintf("nodes taken for it, %s above a probability of %.4f", files.Printable(p.Classes[1]),
			threshold)
	}
	fmt.Fprintf(w, "class\t%s\n", heading)
	for c, name := range p.Classes {
		fmt.Fprintf(w, "%s\t%d\n", files.Printable(name), counts[c])
	}
	fmt.Fprintln(w)
	for _, file := range []string{out.Out, out.Vectors} {
		if file != "" {
			fmt.Fprintf(w, "written to %s\n", file)
		}
	}
}

type prediction struct {
	Dataset string           `json:"dataset"`
	Model   string           `json:"model"`
	Config  train.Config     `json:"config"`
	Engine  string           `json:"engine"`
	Split   int              `json:"split"`
	Loss    train.Number     `json:"loss"`
	Out     string           `json:"out"`
	Arrays  map[string][]int `json:"arrays"`
}

// compare evaluates the model that the flags describe in training mode (without dropout), and writes what can be
// compared with PyTorch.
func (a *app) compare(ctx context.Context, s *subject, o predicting) error {
	file, err := trained.ReadFile(o.from)
	if err != nil {
		return err
	}
	// A file of 'revgnn train --out' has the settings. Flags replace only those that they name.
	var config train.Config
	own, notOwn := file.Model()
	named, _ := models.Lookup(s.model)
	if notOwn == nil && (!s.command.Flags().Changed("model") || named.Name == own.Config.Model) {
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
	features, err := train.Features(g, o.split, config)
	if err != nil {
		return err
	}
	wanted, names, err := trained.Pick(config, features, g.NumClasses, file.Parameters)
	if err != nil {
		return err
	}
	p, err := train.Evaluate(e, g, o.split, config, wanted, o.gradients)
	if err != nil {
		return err
	}
	arrays := trained.Compared(p, g.NumNodes, names)
	out := prediction{g.Name, config.Model, config.Resolved(), e.Name, o.split, train.Number(p.Loss), o.to,
		map[string][]int{}}
	for _, n := range arrays {
		out.Arrays[n.Name] = append([]int{}, n.Shape...)
	}
	if ctx.Err() != nil {
		return errors.New("interrupted; nothing was written")
	}
	if err := npz.Write(o.to, arrays); err != nil {
		return err
	}
	return a.show(out, func(w io.Writer) {
		fmt.Fprintf(w, "loss\t%.6f\n", out.Loss)
		for _, n := range arrays {
			fmt.Fprintf(w, "%s\t%v\n", n.Name, n.Shape)
		}
		fmt.Fprintf(w, "\nwritten to %s\n", out.Out)
	})
}

// source is a model that training has kept, and the graph to run it on.
type source struct{ dataset, weights string }

func kept(f *pflag.FlagSet) *source {
	s := &source{}
	f.StringVar(&s.dataset, "dataset", "", "dataset: see 'revgnn datasets list', or a file or folder of your own")
	f.StringVar(&s.weights, "weights", "", "the model's file, DIR/split<k>.safetensors of 'revgnn train --out DIR'")
	return s
}

func (s *source) given() error {
	switch {
	case s.dataset == "":
		return noDataset()
	case s.weights == "":
		return usagef("no weights given: add --weights with a file of 'revgnn train --out'")
	}
	return nil
}

// open reads a model that training has kept, and then prepares the graph.
func (a *app) open(ctx context.Context, p *progress, weights, dataset string) (*trained.Model, *engine.Engine,
	*graphs.Graph, error) {
	m, err := trained.Read(weights)
	if err != nil {
		return nil, nil, nil, err
	}
	e, g, err := a.prepare(ctx, p, dataset)
	return m, e, g, err
}

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
	s := kept(f)
	layers := f.IntSlice("layers", nil, "numbers of layers to measure after (default: all of a shallow model, else some)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := s.given(); err != nil {
			return err
		}
		m, e, g, err := a.open(c.Context(), a.progress(), s.weights, s.dataset)
		if err != nil {
			return err
		}
		if len(*layers) == 0 {
			*layers = train.TracedLayers(max(m.Config.Forward, m.Config.Reverse))
		}
		t, err := m.Trace(e, g, *layers)
		if err != nil {
			return err
		}
		out := traced{Dataset: g.Name, Engine: e.Name, Weights: s.weights, Model: m.Config.Model, Config: m.Config,
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
