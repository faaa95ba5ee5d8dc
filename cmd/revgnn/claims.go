package main

import (
	"cmp"
	"io"

	"github.com/spf13/cobra"

	"github.com/revgnn/revgnn/pkg/paper"
	"github.com/revgnn/revgnn/pkg/runs"
)

func (a *app) claims() *cobra.Command {
	var profile string
	c := &cobra.Command{Use: "claims [ID…] [flags]",
		Short: "Put the paper's claims to the test of the runs that are there",
		Long: "Puts the paper's claims to the test of the runs that came with revgnn and those recorded since; it runs\n" +
			"nothing. Verdicts: reproduced, weaker (only part of the claim holds), not reproduced, not run.\n" +
			"With IDs, or beginnings of IDs: these claims, with the runs behind each.",
		Example: "  revgnn claims\n" +
			"  revgnn claims gain/gcn+rep table2/gcn+rep/minesweeper\n" +
			"  revgnn claims --json --profile paper"}
	f := c.Flags()
	f.StringVar(&profile, "profile", "quick", "the settings that verdicts are of: quick or paper; see reproduce")
	f.StringVar(&a.runsFile, "runs", "",
		"SQLite file of run records (default: $REVGNN_RUNS, else "+runs.DefaultFile+")")
	f.SortFlags = false
	c.RunE = func(_ *cobra.Command, ids []string) (err error) {
		p, err := paper.ParseProfile(profile)
		if err != nil {
			return asUsage(err)
		}
		store, err := runs.Open(a.records())
		if err != nil {
			return err
		}
		defer func() { err = cmp.Or(err, store.Close()) }()
		if _, err := store.AddCommitted(); err != nil {
			return err
		}
		card, err := paper.Judge(&runs.Runner{Scope: runs.Scope{Profile: p.Profile}, Store: store}, p)
		if err != nil {
			return err
		}
		if card, err = card.Choose(ids); err != nil {
			return asUsage(err)
		}
		return a.show(card, func(w io.Writer) { card.Text(w) })
	}
	return c
}
