package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/revgnn/revgnn/pkg/datasets"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/metrics"
)

func (a *app) datasets() *cobra.Command {
	return group("datasets", "List, download, verify and describe datasets", a.datasetsList(),
		named("get NAME…", "Download datasets into the data directory, and verify them",
			func(c *cobra.Command, names []string) error {
				p := a.progress()
				data := a.data
				data.Progress = p.download
				return a.each(names, func(name string) error {
					defer p.end()
					return datasets.Get(c.Context(), name, data)
				})
			}),
		named("verify NAME…", "Check the files of datasets against their checksums",
			func(_ *cobra.Command, names []string) error {
				return a.each(names, func(name string) error { return datasets.Verify(name, a.data) })
			}),
		named("stats NAME…", "Describe graphs: size, classes, homophily (names, .npz or .json files, folders)",
			func(c *cobra.Command, names []string) error {
				p := a.progress()
				all, features := []metrics.Stats{}, []string{}
				for _, name := range names {
					g, err := a.load(c.Context(), p, name)
					if err != nil {
						return err
					}
					s := metrics.GraphStats(g)
					if s.Shares = metrics.ClassShares(g); g.FeatureNames != nil || len(g.Columns) > 0 {
						s.Columns = g.Table()
					}
					all, features = append(all, s), append(features, g.ListFeatures())
				}
				return a.show(all, func(w io.Writer) { statsTable(w, all, features) })
			}))
}

type listed struct {
	Name    string `json:"name"`
	Present bool   `json:"present"`
	Nodes   int    `json:"nodes,omitempty"`
	Edges   int    `json:"edges,omitempty"`
	Metric  string `json:"metric"`
	Bytes   int64  `json:"bytes"`
	Licence string `json:"licence"`
}

func (a *app) datasetsList() *cobra.Command {
	return &cobra.Command{Use: "list", Short: "List the datasets that are known by name", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			dir, err := datasets.Dir(a.data.Dir)
			if err != nil {
				return err
			}
			var all []listed
			for _, name := range datasets.Names() {
				info, err := datasets.Info(name)
				if err != nil {
					return err
				}
				l := listed{name, datasets.Absent(name, dir) == "", info.Statistics.Nodes, info.Statistics.Edges,
					info.Task, 0, info.Licence}
				for _, f := range info.All() {
					l.Bytes += f.Bytes
				}
				all = append(all, l)
			}
			return a.show(all, func(w io.Writer) {
				fmt.Fprintf(w, "name\tnodes\tedges\tmetric\tsize\tin %s\n", dir)
				for _, l := range all {
					if len(l.Licence) > 0 && l.Bytes == 0 {
						fmt.Fprintf(w, "%s\t\t\t%s\t\tgenerated\n", l.Name, l.Metric)
						continue
					}
					fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\n", l.Name, l.Nodes, l.Edges, l.Metric,
						machine.Bytes(l.Bytes), map[bool]string{true: "yes", false: "no"}[l.Present])
				}
			})
		}}
}

// checked is an entry of the JSON documents of `datasets get` and `datasets verify`.
type checked struct {
	Name  string `json:"name"`
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

// each checks every name, shows how it went, and returns the first error. It begins only if all names are of datasets.
func (a *app) each(names []string, check func(name string) error) error {
	for _, name := range names {
		if _, err := datasets.Info(name); err != nil {
			return asUsageIf[*datasets.NameError](err)
		}
	}
	var all []checked
	var first error
	for _, name := range names {
		one := checked{Name: name, OK: true}
		if err := check(name); err != nil {
			one.OK, one.Error = false, sentence(err)
			first = cmp.Or(first, err)
		}
		all = append(all, one)
	}
	err := a.show(all, func(w io.Writer) {
		for _, one := range all {
			fmt.Fprintf(w, "%s\t%s\n", one.Name, map[bool]string{true: "ok", false: "failed"}[one.OK])
		}
	})
	return errors.Join(err, first)
}

func named(use, short string, run func(c *cobra.Command, names []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, RunE: run, Args: func(c *cobra.Command, names []string) error {
		if len(names) == 0 {
			return usagef("'%s' needs names: give some of %s", c.CommandPath(), strings.Join(datasets.Names(), ", "))
		}
		return nil
	}}
}

func statsTable(w io.Writer, all []metrics.Stats, features []string) {
	header := "name\tnodes\tedges\tdirected\tclasses\tfeatures\tdegree\tedge homophily\tadjusted\tsplits"
	some := slices.ContainsFunc(all, func(s metrics.Stats) bool { return s.Unlabelled > 0 })
	if some {
		header += "\tunlabelled"
	}
	fmt.Fprintln(w, header)
	for _, s := range all {
		directed := "no"
		if s.DirectedEdges > 0 {
			directed = fmt.Sprint(s.DirectedEdges)
		}
		edges := fmt.Sprint(s.Edges)
		if s.Weighted {
			edges += ", weighted"
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%d\t%d\t%.2f\t%s\t%s\t%d", s.Name, s.Nodes, edges, directed,
			s.Classes, s.Features, s.AverageDegree, share(s.EdgeHomophily), share(s.AdjustedHomophily), s.Splits)
		if some {
			fmt.Fprintf(w, "\t%d", s.Unlabelled)
		}
		fmt.Fprintln(w)
	}
	for i, s := range all {
		const most = 20
		var shares []string
		for _, c := range s.Shares[:min(most, len(s.Shares))] {
			shares = append(shares, fmt.Sprintf("%s %.1f %% (%d)", c.Class, 100*c.Share, c.Nodes))
		}
		if more := len(s.Shares) - most; more > 0 {
			shares = append(shares, fmt.Sprintf("and %d more", more))
		}
		fmt.Fprintf(w, "\n%s\nclasses: %s\nfeatures: %s\n", s.Name, cmp.Or(strings.Join(shares, ", "), "none"),
			features[i])
	}
}

// share has four decimals, or a dash for NaN: the edge homophily of a graph in which no edge joins two labelled nodes.
func share(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.4f", v)
}
