package runpage

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// run is the record of a training, together with the settings and the outcome that were read from it.
type run struct {
	*runs.Record
	config train.Config
	// out is the outcome. ended tells whether the record has an outcome.
	out   outcome
	ended bool
}

// outcome has those fields of a record's outcome that a page shows. Records of 'revgnn train' have Details. Records of
// other commands, such as 'revgnn reproduce', have Metric instead, and some also have Followed.
type outcome struct {
	train.Result
	Metric   string         `json:"metric"`
	Details  *train.Details `json:"details"`
	Followed *runs.Followed `json:"followed"`
}

// Page makes the page of a training from the record r, and returns the page as HTML. It returns an error if the record
// is not that of a training.
func Page(r *runs.Record) (string, error) {
	is, err := read(r)
	if err != nil {
		return "", err
	}
	title := fmt.Sprintf("%s on %s, split %d", r.Model, r.Dataset, r.Split)
	return report.Page(title, is.items(title)...)
}

// read reads the settings and the outcome from the record of a training.
func read(r *runs.Record) (run, error) {
	if r.Kind != runs.Train {
		return run{}, fmt.Errorf("run %s is of the kind %s: pages are made of trainings (kind %s), see 'revgnn runs list "+
			"--kind %[3]s'", r.ID, r.Kind, runs.Train)
	}
	t, err := runs.TaskOf(r)
	if err != nil {
		return run{}, err
	}
	is := run{Record: r, config: t.Config, ended: len(r.Outcome) > 0}
	is.out.Val, is.out.Test = train.Number(math.NaN()), train.Number(math.NaN())
	if is.ended {
		if err := json.Unmarshal(r.Outcome, &is.out); err != nil {
			return run{}, fmt.Errorf("the outcome of run %s can't be read: %w", r.ID, err)
		}
		if err := is.out.Details.Validate(); err != nil {
			return run{}, fmt.Errorf("the outcome of run %s can't be shown: %w: train again, or take the record from "+
				"where it was made", r.ID, err)
		}
	}
	return is, nil
}

func (r run) items(title string) []report.Item {
	items := []report.Item{report.Heading(1, title), report.Paragraph(r.summary())}
	if r.ended {
		items = append(items, r.numbers())
	}
	items = append(items, r.details()...)
	return append(items, report.Heading(2, "Settings"), r.settings(),
		report.Heading(2, "To repeat it"),
		report.Paragraph("This trains the same model on the same split again, and records it. On another machine, with "+
			"another engine or other versions, last digits may differ."),
		report.Code(Command(r.Record, r.config)),
		report.Paragraph("With the file of records at hand, 'revgnn runs rerun "+r.ID+
			" --runs FILE' does so and compares the numbers."),
		report.Heading(2, "What the numbers depend on"), r.origin())
}

// summary says in sentences how the training ended.
func (r run) summary() string {
	text := fmt.Sprintf("Recorded on %s as run %s; it ended as %s.", r.Started.Format("2006-01-02 15:04 UTC"), r.ID,
		r.Status)
	if r.Message != "" {
		text += " " + strings.ToUpper(r.Message[:1]) + r.Message[1:] + "."
	}
	if r.out.BestEpoch > 0 {
		text += fmt.Sprintf(" The parameters that count are those after epoch %d of %d, the one with the best "+
			"validation %s.", r.out.BestEpoch, r.out.Epochs, r.metric())
	}
	return text
}

// metric returns the name of the metric, as the page shows it.
func (r run) metric() string {
	metric := r.out.Metric
	if r.out.Details != nil {
		metric = r.out.Details.Metric
	}
	switch metric {
	case "":
		return "metric"
	case data.ROCAUC:
		return "ROC-AUC"
	}
	return metric
}

// absent returns a paragraph for the page. It says that the record lacks certain data, which the argument names.
func absent(what string) report.Item {
	return report.Paragraph("Not in this record: " + what + ". Records of 'revgnn reproduce', and those of earlier " +
		"versions, do not hold this; the command below makes one that does.")
}

// details returns the figures of the page with their headings. If the record has no data for a figure, the page has a
// sentence in place of the figure.
func (r run) details() (items []report.Item) {
	d := r.out.Details
	items = append(items, report.Heading(2, "Training"))
	if d == nil || len(d.Curves.Epochs) == 0 {
		items = append(items, absent("the curves of the loss and of the metrics over epochs"))
	} else {
		items = append(items, r.curves(d.Curves))
	}
	items = append(items, report.Heading(2, "Predictions of the best epoch"))
	switch {
	case d == nil:
		items = append(items, absent("the confusion matrix or ROC curve"))
	case d.ROC != nil:
		items = append(items, r.roc(d))
	case len(d.Confusion) > 0:
		items = append(items, confusion(d))
	case r.out.BestEpoch == 0:
		items = append(items, report.Paragraph("There is no best epoch."))
	default:
		items = append(items, report.Paragraph(fmt.Sprintf("The confusion matrix of %d classes is too large for a "+
			"record.", len(d.Classes))))
	}
	items = append(items, report.Heading(2, "The reverse process"))
	switch {
	case !r.config.HasReverse():
		items = append(items, report.Paragraph("Model "+r.Model+" has none."))
	case d == nil:
		items = append(items, absent("iterations and residuals over epochs"))
	case len(d.Curves.Solve) == 0:
		items = append(items, report.Paragraph("No iterations were made."))
	default:
		items = append(items, r.solves(d.Curves)...)
	}
	return append(append(items, report.Heading(2, "Over-smoothing by layer")), r.smoothness()...)
}
