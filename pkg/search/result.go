package search

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/revgnn/revgnn/pkg/metrics"
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
	// Records has the IDs of all records of the search.
	Trials  []Trial  `json:"trials"`
	Records []string `json:"records"`

	// outcomes are those of all steps, in the order in which the steps ended.
	outcomes []Outcome
	// scores of trials at rungs, by the ID of the record that made the score known: that of the last split.
	scores map[string]float64
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

// result computes the result of the search from the outcomes that are known so far.
func (w *work) result() (*Result, error) {
	r := &Result{Search: w.id, Dataset: w.Dataset, Model: w.Base.Model, Metric: w.Metric(), Splits: w.splits(),
		Space: w.Space.Name, Dimensions: map[string]Range{}, Schedule: w.Schedule, Seed: w.Base.Seed,
		Records: []string{}, scores: map[string]float64{}}
	for _, d := range w.dimensions() {
		r.Dimensions[d.Key] = d.Range
	}
	for _, n := range slices.Sorted(maps.Keys(w.known)) {
		r.add(n, w.known[n])
	}
	slices.SortFunc(r.outcomes, func(a, b Outcome) int {
		return cmp.Or(a.End.Compare(b.End), cmp.Compare(a.record.ID, b.record.ID))
	})
	r.Progress = r.improvements()
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
	i := slices.IndexFunc(r.Trials, func(t Trial) bool { return t.Trial == best })
	r.Best = r.Trials[i]
	sample, err := w.sampler.Trial(best)
	r.Config = sample.Config.Resolved()
	return r, err
}

// Found tells whether any trial went well.
func (r *Result) Found() bool { return len(r.Best.Records) > 0 }

// scored lists the scores of trials at rungs, in the order in which they reached them, without trials that went wrong.
func (r *Result) scored() (all []Reached) {
	epochs, seconds := 0, 0.0
	for _, o := range r.outcomes {
		epochs += o.New
		seconds += o.record.Seconds
		if score, is := r.scores[o.record.ID]; is && !math.IsInf(score, -1) {
			all = append(all, Reached{train.Number(score), o.Trial, o.Rung, epochs, seconds})
		}
	}
	return all
}

func (r *Result) improvements() []Reached {
	best := []Reached{}
	for _, at := range r.scored() {
		if len(best) == 0 || at.Val > best[len(best)-1].Val {
			best = append(best, at)
		}
	}
	return best
}

func (r *Result) add(n int, t trial) {
	all := t.outcomes()
	if len(all) == 0 {
		return
	}
	one := Trial{Trial: n, Status: runs.OK, Val: train.Number(math.NaN()), Settings: all[0].Settings,
		Records: []string{}}
	for _, o := range all {
		one.Records = append(one.Records, o.record.ID)
		r.Epochs += o.New
		r.Seconds += o.record.Seconds
		if o.bad() {
			one.Status, one.Message = o.record.Status, o.record.Message
		}
	}
	for rung, outcomes := range t {
		score, done := scoreOf(outcomes, r.Splits)
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
		if one.Val = train.Number(score); math.IsInf(score, -1) {
			one.Val = train.Number(math.NaN())
		}
		r.scores[last.record.ID] = score
	}
	r.outcomes = append(r.outcomes, all...)
	r.Records = append(r.Records, one.Records...)
	r.Trials = append(r.Trials, one)
}

// Top returns at most so many trials, the best first, and those that went wrong last.
func (r *Result) Top(most int) []Trial {
	list := slices.Clone(r.Trials)
	slices.SortStableFunc(list, func(a, b Trial) int {
		x, y := float64(a.Val), float64(b.Val)
		if math.IsNaN(x) || math.IsNaN(y) {
			return cmp.Compare(y, x) // NaN counts as less than all numbers
		}
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(b.Rung, a.Rung))
	})
	return list[:min(most, len(list))]
}
