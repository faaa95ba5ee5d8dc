package runpage

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// pairs returns a table with two columns: names and values. Rows with an empty value are left out.
func pairs(id, title, corner, column string, rows ...[2]string) report.Item {
	t := &report.Table{ID: id, Title: title, Corner: corner, Columns: []report.Column{{Name: column}}}
	for _, r := range rows {
		if r[1] != "" {
			t.Rows = append(t.Rows, report.Row{Label: r[0], Cells: []report.Cell{report.Text(r[1])}})
		}
	}
	return t
}

// percent writes a number between 0 and 1 in percent. For NaN it returns an empty text.
func percent(n train.Number) string {
	if math.IsNaN(float64(n)) {
		return ""
	}
	return fmt.Sprintf("%.2f %%", 100*float64(n))
}

// numbers returns the table with the results of the training.
func (r run) numbers() report.Item {
	o := r.out
	rows := [][2]string{
		{"test " + r.metric(), percent(o.Test)}, {"validation " + r.metric(), percent(o.Val)},
		{"epochs", fmt.Sprint(o.Epochs)}, {"best epoch", fmt.Sprint(o.BestEpoch)},
		{"time", fmt.Sprintf("%.1f s", o.Seconds)},
		{"time per epoch (median)", fmt.Sprintf("%.4f s", o.EpochSeconds)},
		{"time to compile", fmt.Sprintf("%.1f s", o.CompileSeconds)},
		{"peak memory of the process", machine.Bytes(o.PeakRSS)}}
	if r.config.HasReverse() {
		rows = append(rows, [2]string{"iterations per reverse layer (mean)", fmt.Sprintf("%.2f", o.Iterations.Solve)},
			[2]string{"iterations per adjoint solve (mean)", fmt.Sprintf("%.2f", o.Iterations.Adjoint)},
			[2]string{"largest residual of the last epoch", fmt.Sprintf("%.2g", o.Residual)})
	}
	return pairs("run-result", "Result", "Measure", "Value", rows...)
}

// settings returns the table of all settings. If a setting differs from the default, the row also has the default.
// (train.Config.Changed does not help here, since it does not return the defaults.)
func (r run) settings() report.Item {
	t := &report.Table{ID: "run-settings", Title: "Settings of " + r.Model, Corner: "Setting",
		Columns: []report.Column{{Name: "Value"}, {Name: "Default", Unit: "where it differs"}}}
	usual := train.Default(r.config.Model).Resolved()
	for _, s := range r.config.Settings() {
		value, standard := fmt.Sprint(s.Current()), fmt.Sprint(usual.Value(s.Name))
		row := report.Row{Label: s.Name, Cells: []report.Cell{report.Text(value), {}}}
		if value != standard {
			row.Cells[1] = report.Text(standard)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// origin returns a table of all that the results depend on, without the settings, which have a table of their own. It
// lists the graph, the split, the seed, the engine, the machine and the versions of the software.
func (r run) origin() report.Item {
	rows := [][2]string{{"dataset", r.Dataset}, {"checksum of the graph", r.Checksum}, {"split", fmt.Sprint(r.Split)},
		{"seed of this split (seed + split)", fmt.Sprint(r.Seed)}, {"engine", r.Engine}}
	if n := runs.ThreadsOf(r.Record); n > 0 {
		rows = append(rows, [2]string{"threads", fmt.Sprint(n)})
	}
	rows = append(rows, [2]string{"platform", r.Machine.Platform}, [2]string{"processor", r.Machine.CPU},
		[2]string{"GPU", r.Machine.GPU}, [2]string{"commit of revgnn", r.Commit})
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		rows = append(rows, [2]string{"version of " + name, r.Versions[name]})
	}
	return pairs("run-origin", "Graph, engine, machine and versions", "What", "Which", rows...)
}

// Command returns the command line that repeats a training and records it again. The argument r is the record of the
// training, and c are its settings. Of the settings, the command line has only those that differ from the defaults.
func Command(r *runs.Record, c train.Config) string { return command(r, c, []int{r.Split}) }

// command returns the command line that trains a model on the given splits. The record r names the dataset, the model
// and the engine, and c are the settings.
func command(r *runs.Record, c train.Config, splits []int) string {
	words := []string{"revgnn train", "--dataset " + quoted(r.Dataset), "--model " + quoted(r.Model),
		"--splits " + strings.ReplaceAll(strings.Trim(fmt.Sprint(splits), "[]"), " ", ",")}
	for _, s := range c.Changed() {
		words = append(words, "--"+s.Name+"="+quoted(fmt.Sprint(s.Current())))
	}
	words = append(words, "--engine "+quoted(r.Engine))
	if n := runs.ThreadsOf(r); n > 0 && strings.HasPrefix(r.Engine, "xla:cpu") {
		words = append(words, fmt.Sprintf("--threads %d", n))
	}
	return strings.Join(append(words, "--runs runs.sqlite"), " ")
}

// quoted quotes a word for a shell, if the word needs quotes.
func quoted(word string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.ContainsRune("-_./:=,+@%", c)
	}
	if word != "" && strings.IndexFunc(word, func(c rune) bool { return !plain(c) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
