package runs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/train"
)

// training is the record of a training with its settings and its outcome.
type training struct {
	*Record
	config train.Config
	Trained
}

func readTraining(r *Record) (t training, err error) {
	if r.Kind != Train {
		return t, fmt.Errorf("run %s is of the kind %s: pages are made of trainings (kind %s), see 'revgnn runs list "+
			"--kind %[3]s'", r.ID, r.Kind, Train)
	}
	task, err := TaskOf(r)
	if err != nil {
		return t, err
	}
	t = training{Record: r, config: task.Config}
	t.Val, t.Test = train.Number(math.NaN()), train.Number(math.NaN())
	if len(r.Outcome) == 0 {
		return t, nil
	}
	if err := json.Unmarshal(r.Outcome, &t.Trained); err != nil {
		return t, fmt.Errorf("the outcome of run %s can't be read: %w", r.ID, err)
	}
	if err := t.Details.Validate(); err != nil {
		return t, fmt.Errorf("the outcome of run %s can't be shown: %w: train again, or take the record from where it "+
			"was made", r.ID, err)
	}
	return t, nil
}

// Page makes the page of a training from its record, as one HTML file that loads nothing: results, curves over epochs,
// the confusion matrix or the ROC curve of the best epoch, iterations and residuals of reverse layers, smoothness by
// layer, settings, machine and versions, and the command that repeats it. It says what the record lacks.
func Page(r *Record) (string, error) {
	t, err := readTraining(r)
	if err != nil {
		return "", err
	}
	title := fmt.Sprintf("%s on %s, split %d", t.Model, t.Dataset, t.Record.Split)
	items := []report.Item{report.Heading(1, title), report.Paragraph(t.summary())}
	if len(r.Outcome) > 0 {
		items = append(items, t.numbers())
	}
	items = append(items, t.details()...)
	return report.Page(title, append(items, report.Heading(2, "Settings"), t.settings(),
		report.Heading(2, "To repeat it"),
		report.Paragraph("This trains the same model on the same split again, and records it. On another machine, with "+
			"another engine or other versions, last digits may differ."),
		report.Code(Command(r, t.config)),
		report.Paragraph("With the file of records at hand, 'revgnn runs rerun "+r.ID+
			" --runs FILE' does so and compares the numbers."),
		report.Heading(2, "What the numbers depend on"), t.origin())...)
}

func (t training) summary() string {
	text := fmt.Sprintf("Recorded on %s as run %s; it ended as %s.", t.Started.UTC().Format("2006-01-02 15:04 UTC"), t.ID,
		t.Record.Status)
	if m := t.Record.Message; m != "" {
		text += " " + strings.ToUpper(m[:1]) + m[1:] + "."
	}
	if t.BestEpoch > 0 {
		text += fmt.Sprintf(" The parameters that count are those after epoch %d of %d, the one with the best "+
			"validation %s.", t.BestEpoch, t.Epochs, t.metric().Title)
	}
	return text
}

// metric returns the metric that the training was after.
func (t training) metric() metrics.Measure {
	name := t.Metric
	if t.Details != nil {
		name = t.Details.Metric
	}
	return metrics.Named(cmp.Or(name, "metric"))
}

// absent says on the page that the record lacks something.
func absent(what string) report.Item {
	return report.Paragraph("Not in this record: " + what + ". Records of 'revgnn reproduce', and those of earlier " +
		"versions, do not hold this; the command below makes one that does.")
}

const noCurves = "the curves of the loss and of the metrics over epochs"

// details returns the figures with their headings.
func (t training) details() (items []report.Item) {
	d := t.Details
	items = append(items, report.Heading(2, "Training"))
	if d == nil || len(d.Curves.Epochs) == 0 {
		items = append(items, absent(noCurves))
	} else {
		items = append(items, t.curves(d.Curves))
	}
	items = append(items, report.Heading(2, "Predictions of the best epoch"))
	switch {
	case d == nil:
		items = append(items, absent("the confusion matrix or ROC curve"))
	case d.ROC != nil:
		items = append(items, t.roc(d))
	case len(d.Confusion) > 0:
		items = append(items, report.Confusion("run-confusion", fmt.Sprintf("Confusion matrix of the %s nodes", d.Judged),
			d.Classes, d.Confusion))
	case t.BestEpoch == 0:
		items = append(items, report.Paragraph("There is no best epoch."))
	default:
		items = append(items, report.Paragraph(fmt.Sprintf("The confusion matrix of %d classes is too large for a "+
			"record.", len(d.Classes))))
	}
	if d != nil && t.Measures.Val != nil {
		items = append(items, t.measures())
	}
	if d != nil && d.Calibration != nil {
		items = append(items, calibration(d)...)
	}
	items = append(items, report.Heading(2, "The reverse process"))
	switch {
	case !t.config.HasReverse():
		items = append(items, report.Paragraph("Model "+t.Model+" has none."))
	case d == nil:
		items = append(items, absent("iterations and residuals over epochs"))
	case len(d.Curves.Solve) == 0:
		items = append(items, report.Paragraph("No iterations were made."))
	default:
		items = append(items, t.solves(d.Curves)...)
	}
	return append(append(items, report.Heading(2, "Over-smoothing by layer")), t.smoothness()...)
}

// nameValues returns a table of names and values, without rows whose value is empty.
func nameValues(id, title, corner, column string, rows ...[2]string) report.Item {
	t := &report.Table{ID: id, Title: title, Corner: corner, Columns: []report.Column{{Name: column}}}
	for _, r := range rows {
		if r[1] != "" {
			t.Rows = append(t.Rows, report.Row{Label: r[0], Cells: []report.Cell{report.Text(r[1])}})
		}
	}
	return t
}

// written returns a value of a measure as text, and NaN as "".
func written(m metrics.Measure, n train.Number) string {
	if math.IsNaN(float64(n)) {
		return ""
	}
	if factor, unit := m.Scale(); unit == "%" {
		return fmt.Sprintf("%.2f %%", factor*float64(n))
	}
	return fmt.Sprintf("%.4f", n)
}

func (t training) numbers() report.Item {
	m := t.metric()
	rows := [][2]string{
		{"test " + m.Title, written(m, t.Test)}, {"validation " + m.Title, written(m, t.Val)},
		{"epochs", fmt.Sprint(t.Epochs)}, {"best epoch", fmt.Sprint(t.BestEpoch)},
		{"time", fmt.Sprintf("%.1f s", t.Trained.Seconds)},
		{"time per epoch (median)", fmt.Sprintf("%.4f s", t.EpochSeconds)},
		{"time to compile", fmt.Sprintf("%.1f s", t.CompileSeconds)},
		{"peak memory of the process", machine.Bytes(t.PeakRSS)}}
	if t.config.HasReverse() {
		rows = append(rows, [2]string{"iterations per reverse layer (mean)", fmt.Sprintf("%.2f", t.Iterations.Solve)},
			[2]string{"iterations per adjoint solve (mean)", fmt.Sprintf("%.2f", t.Iterations.Adjoint)},
			[2]string{"largest residual of the last epoch", fmt.Sprintf("%.2g", t.Residual)})
	}
	return nameValues("run-result", "Result", "Measure", "Value", rows...)
}

// measures has a row for each of [metrics.Measures], and says why one is missing.
func (t training) measures() report.Item {
	table := &report.Table{ID: "run-measures", Title: "Measures of the best epoch", Corner: "Measure",
		Columns: []report.Column{{Name: "Validation"}, {Name: "Test"}}, Notes: slices.Clone(t.Measures.Undefined)}
	thresholds := len(t.Measures.Thresholds) > 0 && len(t.Details.Classes) == 2
	if thresholds {
		table.Columns = append(table.Columns, report.Column{Name: "Threshold"})
		table.Notes = append(table.Notes, "A node is taken for class "+t.Details.Classes[1]+" if its probability is "+
			"above the threshold: the one that is best on validation nodes, or 0.5.")
	}
	for _, m := range metrics.Measures {
		row := report.Row{Label: m.Title}
		for _, values := range []map[string]train.Number{t.Measures.Val, t.Measures.Test} {
			value, has := values[m.Name]
			if !has {
				value = train.Number(math.NaN())
			}
			row.Cells = append(row.Cells, report.Text(cmp.Or(written(m, value), "–")))
		}
		if at, tuned := t.Measures.Thresholds[m.Name]; thresholds && tuned {
			row.Cells = append(row.Cells, report.Number(at, 4))
		} else if thresholds {
			row.Cells = append(row.Cells, report.Cell{})
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// settings lists all settings, with the defaults of those that differ.
func (t training) settings() report.Item {
	table := &report.Table{ID: "run-settings", Title: "Settings of " + t.Model, Corner: "Setting",
		Columns: []report.Column{{Name: "Value"}, {Name: "Default", Unit: "where it differs"}}}
	usual := train.Default(t.config.Model).Resolved()
	for _, s := range t.config.Settings() {
		value, standard := fmt.Sprint(s.Current()), fmt.Sprint(usual.Value(s.Name))
		row := report.Row{Label: s.Name, Cells: []report.Cell{report.Text(value), {}}}
		if value != standard {
			row.Cells[1] = report.Text(standard)
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// origin lists all that the results depend on besides the settings.
func (t training) origin() report.Item {
	rows := [][2]string{{"dataset", t.Dataset}, {"checksum of the graph", t.Checksum},
		{"split", fmt.Sprint(t.Record.Split)}, {"seed of this split (seed + split)", fmt.Sprint(t.Record.Seed)},
		{"engine", t.Record.Engine}}
	if n := ThreadsOf(t.Record); n > 0 {
		rows = append(rows, [2]string{"threads", fmt.Sprint(n)})
	}
	rows = append(rows, [2]string{"platform", t.Machine.Platform}, [2]string{"processor", t.Machine.CPU},
		[2]string{"GPU", t.Machine.GPU}, [2]string{"commit of revgnn", t.Commit})
	for _, name := range slices.Sorted(maps.Keys(t.Versions)) {
		rows = append(rows, [2]string{"version of " + name, t.Versions[name]})
	}
	return nameValues("run-origin", "Graph, engine, machine and versions", "What", "Which", rows...)
}

// Command returns the command line that repeats a training with the settings c and records it again.
func Command(r *Record, c train.Config) string { return command(r, c, []int{r.Split}) }

func command(r *Record, c train.Config, splits []int) string {
	words := []string{"revgnn train", "--dataset " + quoted(r.Dataset), "--model " + quoted(r.Model),
		"--splits " + strings.ReplaceAll(strings.Trim(fmt.Sprint(splits), "[]"), " ", ",")}
	for _, s := range c.Changed() {
		words = append(words, "--"+s.Name+"="+quoted(fmt.Sprint(s.Current())))
	}
	words = append(words, "--engine "+quoted(r.Engine))
	if n := ThreadsOf(r); n > 0 && strings.HasPrefix(r.Engine, "xla:cpu") {
		words = append(words, fmt.Sprintf("--threads %d", n))
	}
	return strings.Join(append(words, "--runs runs.sqlite"), " ")
}

// quoted quotes a word for a shell if it has to be.
func quoted(word string) string {
	special := func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.ContainsRune("-_./:=,+@%", c))
	}
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Siblings returns the trainings in a list with the model, graph, engine and settings of r, on any split and with any
// seed, sorted by split and seed. Of several with one split and seed it takes the latest that ended well, or the
// latest.
func Siblings(r *Record, all []Record) ([]Record, error) {
	key, err := settingsKey(r)
	if err != nil {
		return nil, err
	}
	latest := map[[2]uint64]Record{}
	replaces := func(a, b Record) bool {
		if well := a.Status == OK; well != (b.Status == OK) {
			return well
		}
		return b.Started.Before(a.Started)
	}
	for _, other := range all {
		if other.Kind != Train || other.Checksum != r.Checksum || other.Engine != r.Engine {
			continue
		}
		otherKey, err := settingsKey(&other)
		if err != nil {
			return nil, err
		}
		at := [2]uint64{uint64(other.Split), other.Seed}
		if had, is := latest[at]; otherKey == key && (!is || replaces(other, had)) {
			latest[at] = other
		}
	}
	return slices.SortedFunc(maps.Values(latest), func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Split, b.Split), cmp.Compare(a.Seed, b.Seed))
	}), nil
}

// settingsKey is equal for trainings with the same model, dataset and settings.
func settingsKey(r *Record) (string, error) {
	t, err := TaskOf(r)
	if err != nil {
		return "", err
	}
	t.Config.Seed = 0
	return Training(t.Dataset, 0, t.Config).Key(), nil
}

// SweepPage makes one HTML page of several trainings with the same model and settings ([Siblings]): each result, the
// mean and the sample standard deviation over splits, and curves. A split's result is the mean over its seeds.
func SweepPage(list []Record) (string, error) {
	if len(list) == 0 {
		return "", fmt.Errorf("there is no training to make a page of")
	}
	var all []training
	splits := map[int]bool{}
	for i := range list {
		t, err := readTraining(&list[i])
		if err != nil {
			return "", err
		}
		all = append(all, t)
		splits[list[i].Split] = true
	}
	first := all[0]
	title := fmt.Sprintf("%s on %s, %s of %s", first.Model, first.Dataset, count(len(all), "training"),
		count(len(splits), "split"))
	items := []report.Item{report.Heading(1, title), report.Paragraph(sweepSummary(all)), sweepTable(all),
		report.Heading(2, "Training"), sweepCurves(all)}
	return report.Page(title, append(items, report.Heading(2, "Settings"), first.settings(),
		report.Heading(2, "To repeat it"),
		report.Paragraph("This trains on the same splits again, with the same seeds, and records it."),
		report.Code(strings.Join(repeat(all), "\n")),
		report.Heading(2, "What the numbers of the first training depend on"), first.origin())...)
}

// repeat returns the command lines that repeat the trainings. A command with the setting seed trains split k with
// seed + k, so there is one for each seed - k.
func repeat(all []training) (lines []string) {
	splits := map[uint64][]int{}
	var seeds []uint64
	for _, t := range all {
		seed := t.Record.Seed - uint64(t.Record.Split)
		if splits[seed] == nil {
			seeds = append(seeds, seed)
		}
		splits[seed] = append(splits[seed], t.Record.Split)
	}
	for _, seed := range seeds {
		c := all[0].config
		c.Seed = seed
		lines = append(lines, command(all[0].Record, c, splits[seed]))
	}
	return lines
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// sweepSummary gives the mean and the deviation over splits in sentences.
func sweepSummary(all []training) string {
	tests, vals := map[int][]float64{}, map[int][]float64{}
	bad := 0
	for _, t := range all {
		if t.Record.Status != OK {
			bad++
			continue
		}
		k := t.Record.Split
		if test := float64(t.Test); !math.IsNaN(test) { // NaN: the split has no test nodes
			tests[k] = append(tests[k], test)
		}
		vals[k] = append(vals[k], float64(t.Val))
	}
	m := all[0].metric()
	numbers := fmt.Sprintf("Test %s %s over %s, validation", m.Title, spread(m, tests), count(len(tests), "split"))
	if len(tests) == 0 {
		numbers = "Validation " + m.Title
	}
	text := fmt.Sprintf("%s %s over %s: mean and sample standard deviation.", numbers, spread(m, vals),
		count(len(vals), "split"))
	if len(vals) == 0 {
		text = "No training ended well."
	} else if len(all)-bad > len(vals) {
		text += " Of several seeds, the mean counts for their split."
	}
	if bad > 0 {
		text += fmt.Sprintf(" The means leave out %s that did not end well.", count(bad, "training"))
	}
	return text
}

// spread returns the mean over splits, and the sample standard deviation if there are several. The argument has the
// values of a split by seed.
func spread(m metrics.Measure, of map[int][]float64) string {
	factor, unit := m.Scale()
	var means []float64
	for _, values := range of {
		means = append(means, factor*metrics.Mean(values))
	}
	if std := metrics.SampleStd(means); !math.IsNaN(std) && len(means) > 1 {
		return fmt.Sprintf("%.2f ± %.2f %s", metrics.Mean(means), std, unit)
	}
	return fmt.Sprintf("%.2f %s", metrics.Mean(means), unit)
}

func sweepTable(all []training) report.Item {
	table := &report.Table{ID: "sweep-results", Title: "Results by split", Corner: "Split",
		Columns: []report.Column{{Name: "Seed"}, {Name: "Validation"}, {Name: "Test"}, {Name: "Best epoch"},
			{Name: "Epochs"}, {Name: "Time"}, {Name: "Ended as"}, {Name: "Run"}}}
	for _, t := range all {
		row, m := report.Row{Label: fmt.Sprint(t.Record.Split)}, t.metric()
		for _, text := range []string{fmt.Sprint(t.Record.Seed), written(m, t.Val), written(m, t.Test),
			fmt.Sprint(t.BestEpoch), fmt.Sprint(t.Epochs), fmt.Sprintf("%.1f s", t.Trained.Seconds), t.Record.Status,
			t.ID} {
			row.Cells = append(row.Cells, report.Text(text))
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}
