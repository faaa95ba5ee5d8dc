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

// Outcome is the result of a trial at a rung on one split. It has no test metric. A run record of the kind
// [runs.Search] holds an Outcome as JSON, in its field Outcome.
type Outcome struct {
	// Search is the ID of the search. Trial is the number of the trial, counted from 0. A rung is a number of epochs
	// after which trials are compared (see [Schedule]). Rung is the number of the rung, counted from 0, and Until is
	// its number of epochs.
	Search string `json:"search"`
	Trial  int    `json:"trial"`
	Rung   int    `json:"rung"`
	Until  int    `json:"until"`
	// Settings are the settings that were drawn for the trial.
	Settings runs.Settings `json:"settings"`
	Metric   string        `json:"metric"`
	// Epochs is the number of epochs that the trial has trained on this split so far. New is the number of epochs that
	// it has trained since the previous rung, or all of them if the training started over. Val is the best
	// validation metric so far, and BestEpoch is the first epoch with this metric. Ended is true if the training has
	// stopped early, or has trained all epochs. The outcome of a training that has ended also counts at higher rungs.
	Epochs    int          `json:"epochs"`
	New       int          `json:"new_epochs"`
	BestEpoch int          `json:"best_epoch"`
	Val       train.Number `json:"val"`
	Ended     bool         `json:"ended,omitempty"`
	// End is the time at which the trial reached the rung on this split. It cannot always be computed from the run
	// record, which has the start and the seconds of the training. If the training was interrupted and continued, the
	// record has the start of the last part of the training, but the seconds of all parts.
	End time.Time `json:"end"`
	// Began is the time at which the training began ([train.Result]). If it differs from that of the lower rung, the
	// training started over.
	Began time.Time `json:"began,omitzero"`
	// Total is the time, in seconds, that the trial has taken on this split so far. The run record counts only the
	// seconds since the previous rung. The fields below Total are as in [train.Result].
	Total           float64          `json:"total_seconds"`
	EpochSeconds    float64          `json:"epoch_seconds"`
	CompileSeconds  float64          `json:"compile_seconds"`
	PeakRSS         int64            `json:"peak_rss_bytes"`
	PredictedBytes  int64            `json:"predicted_bytes"`
	Iterations      train.Iterations `json:"iterations"`
	Residual        train.Number     `json:"residual"`
	AdjointResidual train.Number     `json:"adjoint_residual"`

	// record is the run record with this outcome.
	record runs.Record
}

// Record returns the run record with this outcome.
func (o Outcome) Record() runs.Record { return o.record }

// bad tells whether the trial failed or diverged.
func (o Outcome) bad() bool { return o.record.Status != runs.OK }

// trial has the outcomes of one trial. It has a map for each rung; the keys of this map are the splits.
type trial []map[int]Outcome

// known has the trials that have begun. The keys of the map are the numbers of the trials.
type known map[int]trial

// read reads the outcomes of all trials of a search from the records of the search. The argument began is the time at
// which this process began to work on the search. Records of failures from before this time are ignored, so that the
// failed trials are tried again. If a step has several records, the first one that is not a failure counts.
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

// maxRung is larger than the number of rungs of any search. A record with a higher rung must be damaged.
const maxRung = 64

// of returns the outcome of a job on a split, and whether there is one.
func (k known) of(j Job, split int) (Outcome, bool) {
	if t := k[j.Trial]; j.Rung >= 0 && j.Rung < len(t) {
		o, is := t[j.Rung][split]
		return o, is
	}
	return Outcome{}, false
}

// standings returns what a [Schedule] needs to know about all trials to decide which of them continue.
func (k known) standings(splits []int) Standings {
	of := Standings{}
	for n, t := range k {
		of[n] = t.standing(splits)
	}
	return of
}

// standing returns what a [Schedule] needs to know about the trial to decide whether it continues. The trial has a
// score at each rung that it has reached on all splits. It also has a score, minus infinity, at a rung at which the
// training on a split went wrong.
func (t trial) standing(splits []int) (s Standing) {
	for _, rung := range t {
		score, done := scoreOf(rung, splits)
		if !done {
			s.Begun = len(rung) > 0
			break
		}
		s.Scores = append(s.Scores, score)
	}
	return s
}

// scoreOf returns the score of a trial at a rung: the mean of the best validation metrics over splits, or minus
// infinity if the training on a split went wrong. The argument rung has the trial's outcomes at the rung, with the
// splits as keys. The result done tells whether the score is known. It is not known while outcomes are missing, unless
// the training on a split went wrong.
func scoreOf(rung map[int]Outcome, splits []int) (score float64, done bool) {
	var vals []float64
	for _, split := range splits {
		o, is := rung[split]
		switch {
		case is && (o.bad() || math.IsNaN(float64(o.Val))):
			return math.Inf(-1), true
		case is:
			vals = append(vals, float64(o.Val))
		}
	}
	return metrics.Mean(vals), len(vals) == len(splits)
}

// failed returns the error message of the failure if the trial has failed, and tells whether it has failed. A trial
// that diverged has not failed.
func (t trial) failed() (why string, is bool) {
	for _, o := range t.outcomes() {
		if o.record.Status == runs.Failed {
			why, is = o.record.Message, true
		}
	}
	return why, is
}

// outcomes returns the outcomes of a trial, ordered by rung, then by split.
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
