package paper

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/report/nb"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// Provenance describes the document's runs in sentences: profile, engines, machines, versions, commits, days, failures.
func (d *Document) Provenance(p Profile) []string {
	out := []string{p.About}
	if len(d.Records) == 0 {
		return append(out, "No runs yet.")
	}
	out = append(out, fmt.Sprintf("%s of %s; engine %s; machine %s.", count(len(d.Records), "run"), days(d.Records),
		each(d.Records, func(r *runs.Record) string { return r.Engine }), each(d.Records, machineText)))
	if commits := each(d.Records, commitText); commits != "" {
		out = append(out, "Made by revgnn at "+commits+".")
	}
	out = append(out, "With "+each(d.Records, versions)+".")
	out = append(out, doubts(d.Records)...)
	bad := map[string]int{}
	for _, r := range d.Records {
		if r.Status != runs.OK {
			bad[r.Status]++
		}
	}
	for _, status := range slices.Sorted(maps.Keys(bad)) {
		out = append(out, fmt.Sprintf("%s %s; see the table or the notes.", count(bad[status], "run"), status))
	}
	return out
}

func machineText(r *runs.Record) string {
	m := r.Machine
	return fmt.Sprintf("%s of %s (%s)", count(m.Cores, "core"), strings.TrimSpace(m.CPU+" "+m.GPU), m.Platform)
}

// commitText is the version and commit of revgnn that made a run, the version alone if it contains the commit, and ""
// if the record has neither. Programs without a version have "(devel)", which says nothing.
func commitText(r *runs.Record) string {
	version := r.Versions["revgnn"]
	switch {
	case version == "" || version == "(devel)":
		return r.Commit
	case strings.Contains(version, r.Commit): // the version contains the commit, or the record has no commit
		return version
	}
	return version + " (" + r.Commit + ")"
}

// doubts are sentences on runs without commit and version, and on trainings by commits whose numbers today's program
// does not repeat to the digit (data/records/older.json).
func doubts(records []*runs.Record) (out []string) {
	var known struct {
		Commits []string
		Says    string
	}
	if err := json.Unmarshal(data.Older(), &known); err != nil {
		panic("data/records/older.json: " + err.Error()) // this cannot happen: the file is embedded
	}
	var nameless, older []*runs.Record
	unnamed := map[string]int{}
	for _, r := range records {
		if commitText(r) == "" {
			nameless = append(nameless, r)
			unnamed[strings.TrimSpace(r.Kind+" "+r.Model)+" on "+r.Dataset]++
		}
		if r.Kind == runs.Train && r.Commit != "" && slices.ContainsFunc(known.Commits, func(c string) bool {
			return strings.HasPrefix(r.Commit, c)
		}) {
			older = append(older, r)
		}
	}
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(unnamed)) {
		parts = append(parts, fmt.Sprintf("%d × %s", unnamed[what], what))
	}
	say := func(some []*runs.Record, one, several, says string) {
		if len(some) == 0 {
			return
		}
		if len(some) == 1 {
			several = one
		}
		out = append(out, fmt.Sprintf("%d of %s, of %s, %s %s.", len(some), count(len(records), "run"), days(some), several,
			says))
	}
	say(nameless, "names", "name", "neither commit nor version, since the program that made them was built without "+
		"either: "+strings.Join(parts, ", "))
	say(older, "is", "are", "of older builds: "+known.Says)
	return out
}

// each joins the different texts of the records, sorted.
func each(records []*runs.Record, of func(*runs.Record) string) string {
	set := map[string]bool{}
	for _, r := range records {
		if s := of(r); s != "" {
			set[s] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(set)), "; ")
}

// days are the first and the last day of the runs.
func days(records []*runs.Record) string {
	byTime := func(a, b *runs.Record) int { return a.Started.Compare(b.Started) }
	const day = "2006-01-02"
	first := slices.MinFunc(records, byTime).Started.Format(day)
	last := slices.MaxFunc(records, byTime).Started.Format(day)
	if first == last {
		return first
	}
	return first + " to " + last
}

// versions are those of Go and of the modules that a run was made with.
func versions(r *runs.Record) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		if name != "revgnn" {
			all = append(all, name+" "+r.Versions[name])
		}
	}
	return strings.Join(all, ", ")
}

// who is a table of machines and engines: their runs, hours, days and commits.
func who(records []*runs.Record) *report.Table {
	t := &report.Table{ID: "who", Title: "By machine and engine", Corner: "Machine", Columns: []report.Column{
		{Name: "engine"}, {Name: "runs"}, {Name: "trainings"}, {Name: "hours"}, {Name: "days (UTC)"},
		{Name: "commits"}}}
	byPlace := map[[2]string][]*runs.Record{}
	for _, r := range records {
		at := [2]string{machineText(r), r.Engine}
		byPlace[at] = append(byPlace[at], r)
	}
	places := slices.SortedFunc(maps.Keys(byPlace), func(a, b [2]string) int {
		return cmp.Or(len(byPlace[b])-len(byPlace[a]), slices.Compare(a[:], b[:]))
	})
	for _, at := range places {
		trainings, seconds, commits := 0, 0.0, map[string]int{}
		for _, r := range byPlace[at] {
			if seconds += r.Seconds; r.Kind == runs.Train {
				trainings++
			}
			if c := commitText(r); c != "" {
				commits[c]++
			}
		}
		t.Rows = append(t.Rows, report.Row{Label: at[0], Cells: []report.Cell{report.Text(at[1]),
			report.Count(len(byPlace[at])), report.Count(trainings), report.Number(seconds/3600, 1),
			report.Text(days(byPlace[at])), report.Count(len(commits))}})
		var names []string
		for _, c := range slices.Sorted(maps.Keys(commits)) {
			names = append(names, fmt.Sprintf("%s (%d)", c, commits[c]))
		}
		t.Notes = append(t.Notes, fmt.Sprintf("%s, %s: with %s; runs by commit: %s.", at[0], at[1],
			each(byPlace[at], versions), strings.Join(names, ", ")))
	}
	t.Notes = append(t.Notes, doubts(records)...)
	if len(records) == 0 {
		t.Rows = []report.Row{{Label: "No runs yet.", Cells: make([]report.Cell, len(t.Columns))}}
	}
	return t
}

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
