package search

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// Result is the result of a search, computed from its records.
type Result struct {
	// Search is the ID of the search, which is the Profile of its run records.
	Search  string `json:"search"`
	Dataset string `json:"dataset"`
	Model   string `json:"model"`
	Metric  string `json:"metric"`
	Splits  []int  `json:"splits"`
	Space   string `json:"space"`
	// Dimensions has the ranges of the settings that were searched.
	Dimensions map[string]Range `json:"dimensions"`
	Schedule   Schedule         `json:"schedule"`
	Seed       uint64           `json:"seed"`
	// Config is the complete configuration of the Best trial.
	Best   Trial        `json:"best"`
	Config train.Config `json:"config"`
	// Complete says that all trials were made, and not ended by the deadline.
	Complete bool `json:"complete"`
	// Of all trials together.
	Epochs  int     `json:"epochs"`
	Seconds float64 `json:"seconds"`
	// Progress lists the improvements of the best validation metric, in the order in which they happened.
	Progress []Reached `json:"progress"`
	Trials   []Trial   `json:"trials"`
	Records  []string  `json:"records"`

	// scored lists all scores but those of trials that went wrong, in the order in which they were reached.
	scored []Reached
}

type Trial struct {
	Trial int `json:"trial"`
	// Rung, counted from 0, is the last one reached. Epochs is the mean over splits then, and less than the rung's if
	// the training stopped early or went wrong on one.
	Rung    int     `json:"rung"`
	Epochs  float64 `json:"epochs"`
	Status  string  `json:"status"`
	Message string  `json:"message,omitempty"`
	// Val is the best validation metric so far, averaged over splits; NaN, null in JSON, if the trial went wrong or has
	// not reached a rung.
	Val      train.Number  `json:"val"`
	Settings runs.Settings `json:"settings"`
	Records  []string      `json:"records"`
}

// Reached says that a trial reached a rung with the score Val. Epochs and Seconds are those of all trials by then.
type Reached struct {
	Val     train.Number `json:"val"`
	Trial   int          `json:"trial"`
	Rung    int          `json:"rung"`
	Epochs  int          `json:"epochs"`
	Seconds float64      `json:"seconds"`
}

func (w *work) result() (*Result, error) {
	r := &Result{Search: w.id, Dataset: w.Dataset, Model: w.Base.Model, Metric: w.Metric(), Splits: w.splits(),
		Space: w.Space.Name, Dimensions: map[string]Range{}, Schedule: w.Schedule, Seed: w.Base.Seed,
		Progress: []Reached{}, Records: []string{}}
	for _, d := range w.dimensions() {
		r.Dimensions[d.Key] = d.Range
	}
	var all []Outcome
	scores := map[string]float64{} // by the ID of the record that made the score known: that of the last split
	for _, n := range slices.Sorted(maps.Keys(w.known)) {
		if outcomes := w.known[n].outcomes(); len(outcomes) > 0 {
			all = append(all, outcomes...)
			for _, o := range outcomes {
				r.Epochs += o.New
				r.Seconds += o.record.Seconds
			}
			one := w.known[n].summary(n, r.Splits, scores)
			r.Trials, r.Records = append(r.Trials, one), append(r.Records, one.Records...)
		}
	}
	slices.SortFunc(all, func(a, b Outcome) int {
		return cmp.Or(a.End.Compare(b.End), cmp.Compare(a.record.ID, b.record.ID))
	})
	epochs, seconds := 0, 0.0
	for _, o := range all {
		epochs += o.New
		seconds += o.record.Seconds
		score, is := scores[o.record.ID]
		if !is || math.IsInf(score, -1) {
			continue
		}
		at := Reached{train.Number(r.gain(train.Number(score))), o.Trial, o.Rung, epochs, seconds}
		r.scored = append(r.scored, at)
		if n := len(r.Progress); n == 0 || r.gain(at.Val) > r.gain(r.Progress[n-1].Val) {
			r.Progress = append(r.Progress, at)
		}
	}
	of := w.known.standings(r.Splits)
	r.Complete = w.Schedule.Trials > 0
	for range w.Schedule.Next(of) {
		r.Complete = false
		break
	}
	best, ok := of.Best()
	if !ok {
		return r, nil
	}
	r.Best = r.Trials[slices.IndexFunc(r.Trials, func(t Trial) bool { return t.Trial == best })]
	sample, err := w.sampler.Trial(best)
	r.Config = sample.Config.Resolved()
	return r, err
}

// summary summarises the outcomes of trial n, and adds its scores at rungs.
func (t trial) summary(n int, splits []int, scores map[string]float64) Trial {
	all := t.outcomes()
	one := Trial{Trial: n, Status: runs.OK, Val: train.Number(math.NaN()), Settings: all[0].Settings,
		Records: []string{}}
	for _, o := range all {
		one.Records = append(one.Records, o.record.ID)
		if o.bad() {
			one.Status, one.Message = o.record.Status, o.record.Message
		}
	}
	for rung, outcomes := range t {
		score, done := scoreOf(outcomes, splits)
		if !done {
			break
		}
		var epochs []float64
		last := Outcome{}
		for _, o := range outcomes {
			epochs = append(epochs, float64(o.Epochs))
			if last.record.ID == "" || o.End.After(last.End) {
				last = o
			}
		}
		one.Rung, one.Epochs = rung, metrics.Mean(epochs)
		one.Val = train.Number(metrics.Named(last.Metric).Gain(score))
		if math.IsInf(score, -1) {
			one.Val = train.Number(math.NaN())
		}
		scores[last.record.ID] = score
	}
	return one
}

// gain is larger for a better value of the metric ([metrics.Measure.Gain]). It turns values into scores and back.
func (r *Result) gain(of train.Number) float64 { return metrics.Named(r.Metric).Gain(float64(of)) }

func (r *Result) Found() bool { return len(r.Best.Records) > 0 }

// Top returns at most so many trials, the best first, and those that went wrong last.
func (r *Result) Top(most int) []Trial {
	list := slices.Clone(r.Trials)
	slices.SortStableFunc(list, func(a, b Trial) int {
		x, y := r.gain(a.Val), r.gain(b.Val)
		if math.IsNaN(x) || math.IsNaN(y) {
			return cmp.Compare(y, x) // NaN counts as less than all numbers
		}
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(b.Rung, a.Rung))
	})
	return list[:min(most, len(list))]
}

// Choices is a file of settings that searches have chosen, in the form of a profile ([runs.Profile]).
type Choices struct {
	Chosen []runs.Choice `json:"chosen"`
}

// OpenChoices reads a file of chosen settings. A file that does not exist has none.
func OpenChoices(path string) (c Choices, err error) {
	const limit = 16 << 20
	text, err := files.Read(path, "a file of chosen settings as JSON", limit)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	} else if err != nil {
		return c, err
	}
	if err := files.Strict(text, &c); err != nil {
		return c, fmt.Errorf("%s is no file of chosen settings (%w): give another name", path, err)
	}
	return c, nil
}

// Choice returns those settings of the best trial that differ from the model's defaults, and the ID of the search.
func (r *Result) Choice() runs.Choice {
	c := runs.Choice{Dataset: r.Dataset, Model: r.Model, Settings: runs.Settings{}, Search: r.Search}
	for _, s := range r.Config.Changed() {
		c.Settings[s.Key()], _ = json.Marshal(s.Current()) // cannot fail: settings are plain values
	}
	c.Note = fmt.Sprintf("trial %d of %d from the space %s, validation %s %.4f on splits %v after %.0f epochs of %d",
		r.Best.Trial, len(r.Trials), r.Space, r.Metric, r.Best.Val, r.Splits, r.Best.Epochs,
		r.Config.Epochs)
	return c
}

// Save writes the [Result.Choice] into a file, in place of what an earlier search has chosen for the same model and
// dataset. Settings that are from no search ([runs.Choice.Source]) stay. Save waits while another process writes.
func (r *Result) Save(ctx context.Context, path string) error {
	lock, err := files.AwaitLock(ctx, path+".lock")
	if err != nil {
		return fmt.Errorf("the chosen settings cannot be put into %s: %w", path, err)
	}
	defer lock.Release()
	kept, err := OpenChoices(path)
	if err != nil {
		return err
	}
	kept.Chosen = slices.DeleteFunc(kept.Chosen, func(c runs.Choice) bool {
		return c.Dataset == r.Dataset && c.Model == r.Model && c.Source == ""
	})
	kept.Chosen = append(kept.Chosen, r.Choice())
	return files.WriteJSON(path, kept)
}

// Describe returns the settings of a trial as text, such as "hidden 32, lr 0.01".
func Describe(s runs.Settings) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(s)) {
		parts = append(parts, key+" "+text(s[key]))
	}
	return strings.Join(parts, ", ")
}

func text(value json.RawMessage) string { return string(bytes.Trim(value, `"`)) }

// progress plots the best validation metric, and the score of each trial at each rung, against the epochs and against
// the hours that all trials together had taken.
func (r *Result) progress() *report.Figure {
	plot := func(name string, spent func(Reached) float64) report.Plot {
		best := report.Series{Name: "best so far"}
		at := make([]report.Series, len(r.Schedule.Rungs))
		top := math.Inf(-1) // the best gain
		for _, reached := range r.scored {
			x, y, s := spent(reached), float64(reached.Val), &at[reached.Rung]
			s.X, s.Y = append(s.X, x), append(s.Y, y)
			if gain := r.gain(reached.Val); gain > top {
				if n := len(best.Y); n > 0 { // the curve stays level up to here
					best.X, best.Y = append(best.X, x), append(best.Y, best.Y[n-1])
				}
				top = gain
				best.X, best.Y = append(best.X, x), append(best.Y, y)
			} else {
				best.X, best.Y = append(best.X, x), append(best.Y, best.Y[len(best.Y)-1])
			}
		}
		p := report.Plot{XName: name, YName: "validation " + metrics.Named(r.Metric).Title,
			Series: []report.Series{best}}
		for i, s := range at {
			s.Name, s.Style = fmt.Sprintf("epoch %d", r.Schedule.Rungs[i]), report.Points
			if len(s.X) > 0 {
				p.Series = append(p.Series, s)
			}
		}
		return p
	}
	return report.Plots("search-best", fmt.Sprintf("Search of %s on %s", r.Model, r.Dataset),
		plot("epochs of all trials", func(at Reached) float64 { return float64(at.Epochs) }),
		plot("hours of training", func(at Reached) float64 { return at.Seconds / 3600 }))
}

// parallel has an axis for each setting with more than one possible value.
func (r *Result) parallel() *report.Figure {
	keys := r.axes()
	var axes []report.ParallelAxis
	for _, key := range keys {
		d := r.Dimensions[key]
		axis := report.ParallelAxis{Name: key, Log: d.Log != nil, Whole: d.Integer != nil}
		for _, value := range d.Choice {
			axis.Categories = append(axis.Categories, text(value))
		}
		axes = append(axes, axis)
	}
	axes = append(axes, report.ParallelAxis{Name: "validation"})
	low, high := math.Inf(1), math.Inf(-1)
	for _, t := range r.Trials {
		if v := r.gain(t.Val); !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	var lines []report.ParallelLine
	for _, t := range slices.Backward(r.Top(len(r.Trials))) { // the best trial is drawn last, on top of the others
		v := float64(t.Val)
		if math.IsNaN(v) {
			continue
		}
		line := report.ParallelLine{Name: fmt.Sprintf("trial %d, %.0f epochs", t.Trial, t.Epochs),
			Value: (r.gain(t.Val) - low) / (high - low), Marked: t.Trial == r.Best.Trial}
		for i, key := range keys {
			value, has := t.Settings[key]
			x := math.NaN()
			if at := slices.Index(axes[i].Categories, text(value)); has && at >= 0 {
				x = float64(at)
			} else if has && axes[i].Categories == nil {
				fmt.Sscan(string(value), &x) // without categories, the values are numbers
			}
			line.Values = append(line.Values, x)
		}
		line.Values = append(line.Values, v)
		lines = append(lines, line)
	}
	return report.Parallel("search-settings", fmt.Sprintf("Settings of %s on %s, and what came of them", r.Model,
		r.Dataset), axes, lines)
}

// axes returns the settings with more than one possible value, by name. A trial's line has a gap at a setting that it
// lacks ([Range.When]). A value between two gaps would not be visible, so such axes are kept apart as far as possible.
func (r *Result) axes() (keys []string) {
	var always, sometimes []string
	for _, key := range slices.Sorted(maps.Keys(r.Dimensions)) {
		switch d := r.Dimensions[key]; {
		case len(d.Choice) == 1:
		case len(d.When) > 0:
			sometimes = append(sometimes, key)
		default:
			always = append(always, key)
		}
	}
	for _, key := range sometimes {
		two := min(2, len(always))
		keys = append(append(keys, always[:two]...), key)
		always = always[two:]
	}
	return append(keys, always...)
}

// Draw writes two figures into a folder, as SVG, PNG and PDF and on an HTML page: the best validation metric during the
// search, and the trials on parallel axes of settings and metric. It returns the names of the files.
func (r *Result) Draw(dir string) (names []string, err error) {
	if err := files.Writable(dir); err != nil {
		return nil, err
	}
	write := func(name string, content []byte, err error) error {
		if err != nil {
			return err
		}
		names = append(names, name)
		return files.WriteText(filepath.Join(dir, name), content)
	}
	var items []report.Item
	for _, f := range []*report.Figure{r.progress(), r.parallel()} {
		items = append(items, f)
		svg, err := f.SVG()
		if err := write(f.ID+".svg", []byte(svg), err); err != nil {
			return nil, err
		}
		png, err := f.PNG(2)
		if err := write(f.ID+".png", png, err); err != nil {
			return nil, err
		}
		pdf, err := f.PDF()
		if err := write(f.ID+".pdf", pdf, err); err != nil {
			return nil, err
		}
	}
	page, err := report.Page(fmt.Sprintf("Search of %s on %s", r.Model, r.Dataset), items...)
	err = write("search.html", []byte(page), err)
	return names, err
}
