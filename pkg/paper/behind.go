package paper

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/report/nb"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// Behind returns a table of the document's runs for a notebook, folded if there are more than 12.
func (d *Document) Behind() report.Item {
	if len(d.Records) == 0 {
		return nb.List{"There are no runs yet."}
	}
	t := &report.Table{ID: d.Name + "-runs", Corner: "Run", Columns: []report.Column{
		{Name: "what"}, {Name: "settings"}, {Name: "result"}, {Name: "engine"}, {Name: "commit"},
		{Name: "started (UTC)"}}}
	records := slices.Clone(d.Records)
	slices.SortFunc(records, func(a, b *runs.Record) int { return strings.Compare(a.ID, b.ID) })
	for _, r := range records {
		row := report.Row{Label: r.ID}
		what, settings := described(r)
		for _, text := range []string{what, settings, result(r), r.Engine, r.Commit,
			r.Started.Format("2006-01-02 15:04")} {
			row.Cells = append(row.Cells, report.Text(text))
		}
		t.Rows = append(t.Rows, row)
	}
	line := "The " + count(len(records), "run") + " behind these numbers"
	if t.Title = line; len(records) <= 12 {
		return t
	}
	return nb.Folded(line, t)
}

// described says what a run computed and by which settings; of a training, all that are not the model's defaults.
func described(r *runs.Record) (what, settings string) {
	t := runs.Task{Kind: r.Kind, Dataset: r.Dataset, Split: r.Split}
	if err := json.Unmarshal(r.Config, &t.Config); err != nil {
		return r.Kind + " on " + r.Dataset, "its settings are damaged"
	}
	c := t.Config
	switch r.Kind {
	case runs.Train:
		settings = fmt.Sprintf("lr %g, d %d, dropout %g, %d epochs at most", c.LearningRate, c.Hidden, c.Dropout,
			c.Epochs)
	case runs.Invert, runs.Bench:
		settings = fmt.Sprintf("d %d, M %d", c.Hidden, c.MaxIterations)
	}
	if c.Lipschitz > 0 {
		settings += fmt.Sprintf(", c %g", c.Lipschitz)
	}
	if r.Kind == runs.Train {
		settings += others(c)
	}
	return t.String(), settings
}

func others(c train.Config) (text string) {
	for _, s := range c.Changed() {
		switch s.Name {
		case "forward", "reverse", "time", "reverse-time", "lr", "hidden", "dropout", "epochs", "lipschitz":
		default:
			text += fmt.Sprintf(", %s %v", s.Name, s.Current())
		}
	}
	return text
}

func result(r *runs.Record) string {
	if r.Status != runs.OK {
		return r.Status
	}
	var o struct { // the fields that are shown, for all kinds of runs
		Val          train.Number `json:"val"`
		Test         train.Number `json:"test"`
		MeanAbsError train.Number `json:"mean_abs_error"`
		EpochSeconds float64      `json:"epoch_seconds"`
		Nodes        int          `json:"nodes"`
		Edges        int          `json:"edges"`
	}
	if err := json.Unmarshal(r.Outcome, &o); err != nil {
		return "its outcome is damaged"
	}
	switch r.Kind {
	case runs.Train:
		return fmt.Sprintf("%s: validation %.4f, test %.4f", metric(r.Dataset), o.Val, o.Test)
	case runs.Invert:
		return fmt.Sprintf("mean absolute error %.2e", o.MeanAbsError)
	case runs.Bench:
		return fmt.Sprintf("%.4f s per epoch", o.EpochSeconds)
	}
	return fmt.Sprintf("%d nodes, %d edges", o.Nodes, o.Edges)
}
