package search

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// Outcome is the result of a trial at a rung on one split, without a test metric: [runs.Record.Outcome] of its record.
type Outcome struct {
	// Trial and Rung count from 0. Until is the rung's number of epochs.
	Search   string        `json:"search"`
	Trial    int           `json:"trial"`
	Rung     int           `json:"rung"`
	Until    int           `json:"until"`
	Settings runs.Settings `json:"settings"`
	Metric   string        `json:"metric"`
	// Epochs are those on this split so far, and New those since the previous rung, or all if the training started
	// over. Val is the best validation metric so far, and BestEpoch the first epoch with it. Ended says that the
	// training stopped early or has trained all epochs; the outcome then counts at higher rungs, too.
	Epochs    int          `json:"epochs"`
	New       int          `json:"new_epochs"`
	BestEpoch int          `json:"best_epoch"`
	Val       train.Number `json:"val"`
	Ended     bool         `json:"ended,omitempty"`
	// End is the time at which the trial reached the rung. The record of a training that was continued has the start of
	// its last part, but the seconds of all.
	End time.Time `json:"end"`
	// If Began differs from that of the lower rung, the training started over.
	Began time.Time `json:"began,omitzero"`
	// Total are the seconds on this split so far; the run record has only those since the previous rung. The rest is as
	// in [train.Result].
	Total           float64          `json:"total_seconds"`
	EpochSeconds    float64          `json:"epoch_seconds"`
	CompileSeconds  float64          `json:"compile_seconds"`
	PeakRSS         int64            `json:"peak_rss_bytes"`
	PredictedBytes  int64            `json:"predicted_bytes"`
	Iterations      train.Iterations `json:"iterations"`
	Residual        train.Number     `json:"residual"`
	AdjointResidual train.Number     `json:"adjoint_residual"`

	record runs.Record
}

func (o Outcome) Record() runs.Record { return o.record }

func (o Outcome) bad() bool { return o.record.Status != runs.OK }

// trial has the outcomes of one trial, for each rung by split.
type trial []map[int]Outcome

// known has the trials that have begun, by number.
type known map[int]trial

// read reads the outcomes of a search from its records. Failures from before the time began do not count, so that they
// are tried again. Of several records of a step, the first one that is not a failure counts.
func read(store *runs.Store, id string, began time.Time) (known, error) {
	records, err := store.Find(runs.Query{Kind: runs.Search, Profile: id})
	if err != nil {
		return nil, err
	}
	k := known{}
	for _, r := range records {
		if r.FailedBefore(began) {
			continue
		}
		o := Outcome{record: r}
		if err := json.Unmarshal(r.Outcome, &o); err != nil || o.Trial < 0 || o.Rung < 0 || o.Rung > maxRung {
			return nil, fmt.Errorf("the outcome of run %s can't be read as that of a trial; remove damaged runs with "+
				"'revgnn runs repair'", r.ID)
		}
		for len(k[o.Trial]) <= o.Rung {
			k[o.Trial] = append(k[o.Trial], map[int]Outcome{})
		}
		if old, twice := k[o.Trial][o.Rung][r.Split]; !twice || old.record.Status == runs.Failed {
			k[o.Trial][o.Rung][r.Split] = o
		}
	}
	return k, nil
}

// maxRung is larger than any search needs: a record with a higher rung is damaged.
const maxRung = 64

func (k known) of(j Job, split int) (Outcome, bool) {
	if t := k[j.Trial]; j.Rung >= 0 && j.Rung < len(t) {
		o, is := t[j.Rung][split]
		return o, is
	}
	return Outcome{}, false
}

// standings returns what a [Schedule] needs to know about all trials: a score for each rung that a trial has reached on
// all splits, and minus infinity where it went wrong.
func (k known) standings(splits []int) Standings {
	of := Standings{}
	for n, t := range k {
		var s Standing
		for _, rung := range t {
			score, done := scoreOf(rung, splits)
			if !done {
				s.Begun = len(rung) > 0
				break
			}
			s.Scores = append(s.Scores, score)
		}
		of[n] = s
	}
	return of
}

// scoreOf returns the score of a trial at a rung: the mean of the best validation metrics over splits, as a gain
// ([metrics.Measure.Gain]), or minus infinity if the training went wrong on one. It is not done while outcomes are
// missing, unless one went wrong.
func scoreOf(rung map[int]Outcome, splits []int) (score float64, done bool) {
	var vals []float64
	for _, split := range splits {
		o, is := rung[split]
		switch {
		case is && (o.bad() || math.IsNaN(float64(o.Val))):
			return math.Inf(-1), true
		case is:
			vals = append(vals, metrics.Named(o.Metric).Gain(float64(o.Val)))
		}
	}
	return metrics.Mean(vals), len(vals) == len(splits)
}

func (t trial) outcomes() (all []Outcome) {
	for _, rung := range t {
		for _, o := range rung {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b Outcome) int {
		return cmp.Or(cmp.Compare(a.Rung, b.Rung), cmp.Compare(a.record.Split, b.record.Split))
	})
	return all
}

// seconds predicts the time of a step: from the trial's own time per epoch, or else from recorded runs of the same
// program, or else from all trials of this search in proportion to their work ([runs.Task.Size]) without the time to
// compile; all on this machine. It is 0 if it cannot be predicted, or if the training ended at a lower rung. Without a
// checkpoint (kept) all epochs count: a trial with records from another machine starts over.
func (w *work) seconds(s Step, kept bool) float64 {
	before, _ := w.known.of(Job{s.Trial, s.Rung - 1}, s.Split)
	if before.Ended {
		return 0
	}
	if before.Epochs > 0 {
		left := s.Until
		if kept {
			left -= before.Epochs
		}
		return before.CompileSeconds + float64(left)*pace(before)
	}
	task := runs.Task{Kind: runs.Search, Dataset: w.Dataset, Split: runs.NoSplit, Config: s.Config}
	task.Config.Epochs = s.Until
	if seconds := w.costs.Of(task).Seconds; seconds > 0 {
		return seconds
	}
	var shares, compiles []float64
	for _, t := range w.known {
		for _, o := range t.outcomes() {
			other := task
			err := other.Config.UnmarshalJSON(o.record.Config)
			if err != nil || o.Epochs == 0 || !o.record.Machine.Same(w.costs.Machine) {
				continue
			}
			other.Config.Epochs = 1
			shares = append(shares, pace(o)/other.Size())
			compiles = append(compiles, o.CompileSeconds)
		}
	}
	if len(shares) == 0 {
		return 0
	}
	return metrics.Median(compiles) + metrics.Median(shares)*task.Size()
}

func pace(o Outcome) float64 {
	if o.Epochs == 0 {
		return 0
	}
	return max(o.EpochSeconds, (o.Total-o.CompileSeconds)/float64(o.Epochs))
}
