package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/search"
	"github.com/revgnn/revgnn/pkg/train"
)

// search shows the progress of a search on stderr, and returns a function for its end.
func (p *progress) search(it *search.Search) (end func(*search.Result)) {
	trials := "any number of trials"
	if it.Schedule.Trials > 0 {
		trials = fmt.Sprintf("%d trials", it.Schedule.Trials)
	}
	p.line("searching settings of %s on %s: %s from the space %s, rungs at %v epochs, engine %s. What is done is "+
		"kept in %s, whatever happens.", it.Base.Model, it.Dataset, trials, it.Space.Name, it.Schedule.Rungs, it.Engine.Name,
		it.Store.Path())
	it.Starts = func(s search.Step) {
		if s.Rung == 0 {
			p.line("%s: %s", s, search.Describe(s.Settings))
		} else {
			p.line("%s: goes on", s)
		}
	}
	it.Epoch = func(s search.Step, e train.Epoch) {
		p.at(s.String(), int64(e.Epoch), int64(s.Until), "epochs", fmt.Sprintf("val %.4f best %.4f", e.Val, e.BestVal))
	}
	it.Ended = func(s search.Step, o search.Outcome) {
		r := o.Record()
		if r.Status != runs.OK {
			p.line("%s: %s, %s", s, r.Status, r.Message)
			return
		}
		p.line("%s: validation %.4f (epoch %d) in %s", s, o.Val, o.BestEpoch, runs.Duration(r.Seconds))
	}
	it.Notice = func(s search.Step, text string) {
		if s.Rung == 0 || !strings.HasPrefix(text, "going on") { // which is what trials do
			p.line("%s: %s", s, text)
		}
	}
	it.Waits = func(search.Step) { p.line("waiting for other processes, which are at all that can be done now") }
	return func(r *search.Result) {
		state := "the search is complete"
		if !r.Complete {
			state = "time is up; the same command goes on from here"
		}
		p.line("%s: %d trials, %d epochs, %s of training; the best is trial %d", state, len(r.Trials), r.Epochs,
			runs.Duration(r.Seconds), r.Best.Trial)
	}
}

// searchTable writes the best trials, and then the chosen settings.
func searchTable(w io.Writer, s searched) {
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\n\n", s.Dataset, s.Model, s.Engine, s.Search)
	fmt.Fprintf(w, "trial\trung\tepochs\tvalidation\tstatus\tsettings\n")
	const most = 10
	for _, t := range s.Top(most) {
		val := "–"
		if t.Status == runs.OK {
			val = fmt.Sprintf("%.4f", t.Val)
		}
		fmt.Fprintf(w, "%d\t%d of %d\t%.0f\t%s\t%s\t%s\n", t.Trial, t.Rung+1, len(s.Schedule.Rungs), t.Epochs, val,
			t.Status, search.Describe(t.Settings))
	}
	fmt.Fprintf(w, "\nbest\t%s %.4f on validation, trial %d of %d\n", s.Metric, s.Best.Val, s.Best.Trial, len(s.Trials))
	fmt.Fprintf(w, "settings\t%s\n", search.Describe(s.Choice().Settings))
	if e := s.Evaluation; e != nil {
		fmt.Fprintf(w, "test\t%s\n", tested(e))
	}
}

// tested gives the mean test result, and the splits whose training went wrong.
func tested(e *search.Evaluation) string {
	var bad []string
	for _, s := range e.LeftOut() {
		bad = append(bad, fmt.Sprintf("split %d %s", s.Split, s.Status))
	}
	text := overSplits(e.Mean, e.Std, len(e.Tests()), "")
	if text == "" {
		text = "none"
	}
	if len(bad) > 0 {
		text += "; left out: " + strings.Join(bad, ", ")
	}
	return text
}
