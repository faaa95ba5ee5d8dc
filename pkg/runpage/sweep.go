package runpage

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
)

// Siblings takes a list of records, and returns the trainings in it that are like the training of r: they have the same
// model, graph, engine and settings, but may differ in the split and the seed. If there are several trainings with the
// same split and seed, only one is returned, even if r is another one: the latest that ended well, or the latest if
// none did. The returned records are sorted by split, then by seed.
func Siblings(r *runs.Record, all []runs.Record) ([]runs.Record, error) {
	key, err := settingsKey(r)
	if err != nil {
		return nil, err
	}
	latest := map[[2]uint64]runs.Record{}
	replaces := func(a, b runs.Record) bool {
		if well := a.Status == runs.OK; well != (b.Status == runs.OK) {
			return well
		}
		return b.Started.Before(a.Started)
	}
	for _, other := range all {
		if other.Kind != runs.Train || other.Checksum != r.Checksum || other.Engine != r.Engine {
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
	var list []runs.Record
	for _, one := range latest {
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b runs.Record) int {
		return cmp.Or(cmp.Compare(a.Split, b.Split), cmp.Compare(a.Seed, b.Seed))
	})
	return list, nil
}

// settingsKey returns a key by which trainings are compared. Two trainings have the same key if they have the same
// model, dataset and settings. Their splits and seeds may differ.
func settingsKey(r *runs.Record) (string, error) {
	t, err := runs.TaskOf(r)
	if err != nil {
		return "", err
	}
	t.Config.Seed = 0
	return runs.Training(t.Dataset, 0, t.Config).Key(), nil
}

// SweepPage makes one page of several trainings with the same model and settings, and returns the page as HTML. The
// function [Siblings] selects these trainings. The page shows the result of each training, the mean and the sample
// standard deviation over splits, and curves over epochs. If a split has trainings with several seeds, the result of
// the split is the mean over these seeds.
func SweepPage(list []runs.Record) (string, error) {
	if len(list) == 0 {
		return "", fmt.Errorf("there is no training to make a page of")
	}
	var records []run
	var splits []int
	for i := range list {
		one, err := read(&list[i])
		if err != nil {
			return "", err
		}
		records = append(records, one)
		if !slices.Contains(splits, one.Split) {
			splits = append(splits, one.Split)
		}
	}
	first := records[0]
	title := fmt.Sprintf("%s on %s, %s of %s", first.Model, first.Dataset, count(len(records), "training"),
		count(len(splits), "split"))
	items := []report.Item{report.Heading(1, title), report.Paragraph(sweepSummary(records)), sweepTable(records)}
	items = append(items, sweepCurves(records)...)
	return report.Page(title, append(items, report.Heading(2, "Settings"), first.settings(),
		report.Heading(2, "To repeat it"),
		report.Paragraph("This trains on the same splits again, with the same seeds, and records it."),
		report.Code(strings.Join(repeat(records), "\n")),
		report.Heading(2, "What the numbers of the first training depend on"), first.origin())...)
}

// repeat returns the command lines that train on the same splits again, with the same seeds. A command with the setting
// seed trains split k with seed + k. So the runs are sorted into groups by seed - k, with one command for each group.
func repeat(records []run) (lines []string) {
	splits := map[uint64][]int{}
	var seeds []uint64
	for _, r := range records {
		seed := r.Seed - uint64(r.Split)
		if splits[seed] == nil {
			seeds = append(seeds, seed)
		}
		splits[seed] = append(splits[seed], r.Split)
	}
	for _, seed := range seeds {
		c := records[0].config
		c.Seed = seed
		lines = append(lines, command(records[0].Record, c, splits[seed]))
	}
	return lines
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// sweepSummary returns sentences with the mean and the standard deviation of the results over splits.
func sweepSummary(records []run) string {
	tests, vals := map[int][]float64{}, map[int][]float64{}
	bad := 0
	for _, r := range records {
		if r.Status != runs.OK {
			bad++
			continue
		}
		if test := float64(r.out.Test); !math.IsNaN(test) { // NaN: the split has no test nodes
			tests[r.Split] = append(tests[r.Split], 100*test)
		}
		vals[r.Split] = append(vals[r.Split], 100*float64(r.out.Val))
	}
	numbers := fmt.Sprintf("Test %s %s over %s, validation", records[0].metric(), spread(tests), count(len(tests), "split"))
	if len(tests) == 0 {
		numbers = "Validation " + records[0].metric()
	}
	text := fmt.Sprintf("%s %s over %s: mean and sample standard deviation.", numbers, spread(vals),
		count(len(vals), "split"))
	if len(vals) == 0 {
		text = "No training ended well."
	} else if len(records)-bad > len(vals) {
		text += " Of several seeds, the mean counts for their split."
	}
	if bad > 0 {
		text += fmt.Sprintf(" The means leave out %s that did not end well.", count(bad, "training"))
	}
	return text
}

// spread returns the mean over splits as text. If there are several splits, the text also has the sample standard
// deviation. For each split, the argument has a list with one value for each seed. The mean of this list is the value
// of the split.
func spread(of map[int][]float64) string {
	var means []float64
	for _, values := range of {
		means = append(means, metrics.Mean(values))
	}
	if std := metrics.SampleStd(means); !math.IsNaN(std) && len(means) > 1 {
		return fmt.Sprintf("%.2f ± %.2f %%", metrics.Mean(means), std)
	}
	return fmt.Sprintf("%.2f %%", metrics.Mean(means))
}

// sweepTable returns a table with a row for each training.
func sweepTable(records []run) report.Item {
	t := &report.Table{ID: "sweep-results", Title: "Results by split", Corner: "Split",
		Columns: []report.Column{{Name: "Seed"}, {Name: "Validation"}, {Name: "Test"}, {Name: "Best epoch"},
			{Name: "Epochs"}, {Name: "Time"}, {Name: "Ended as"}, {Name: "Run"}}}
	for _, r := range records {
		o := r.out
		t.Rows = append(t.Rows, report.Row{Label: fmt.Sprint(r.Split), Cells: []report.Cell{
			report.Text(fmt.Sprint(r.Seed)), report.Text(percent(o.Val)), report.Text(percent(o.Test)),
			report.Text(fmt.Sprint(o.BestEpoch)), report.Text(fmt.Sprint(o.Epochs)),
			report.Text(fmt.Sprintf("%.1f s", o.Seconds)), report.Text(r.Status), report.Text(r.ID)}})
	}
	return t
}

// sweepCurves draws the loss and the validation metric over epochs, with a line for each training whose record has
// these curves.
func sweepCurves(records []run) []report.Item {
	var losses, vals []report.Series
	for _, r := range records {
		if r.out.Details == nil || len(r.out.Details.Curves.Epochs) == 0 {
			continue
		}
		c, name := r.out.Details.Curves, fmt.Sprintf("split %d, seed %d", r.Split, r.Seed)
		losses = append(losses, report.Series{Name: name, X: epochs(c), Y: numbersOf(c.Loss, 1)})
		vals = append(vals, report.Series{Name: name, X: epochs(c), Y: numbersOf(c.Val, 100)})
	}
	items := []report.Item{report.Heading(2, "Training")}
	if len(losses) == 0 {
		return append(items, absent("the curves of the loss and of the metrics over epochs"))
	}
	return append(items, report.Plots("sweep-curves", "Loss and validation "+records[0].metric()+" over epochs",
		report.Plot{Title: "Training loss", XName: "epoch", YName: "loss", Series: losses},
		report.Plot{Title: "After each epoch", XName: "epoch", YName: "validation " + records[0].metric() + " [%]",
			Series: vals}))
}
