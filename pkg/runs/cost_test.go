package runs

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/revgnn/revgnn/pkg/train"
)

// ran makes a record of a task, as if the task had run on this machine with the given time and outcome.
func ran(t *testing.T, task Task, seconds float64, outcome any) Record {
	t.Helper()
	r := Begin(task.Kind)
	var err error
	if r.Config, err = json.Marshal(task.Config); err != nil {
		t.Fatal(err)
	}
	if r.Outcome, err = json.Marshal(outcome); err != nil {
		t.Fatal(err)
	}
	r.Dataset, r.Split, r.Status, r.Seconds = task.Dataset, task.Split, OK, seconds
	return r
}

func TestCosts(t *testing.T) {
	c := train.Default("gcn+rep")
	c.Epochs, c.Patience, c.Dropout = 200, 50, 0.5
	task := Training("cora", 0, c)
	nothing := NewCosts(nil, "").Of(task)
	if nothing.Seconds != 0 || !nothing.AtLeast || nothing.Bytes != train.Least(SizeOf("cora"), c) {
		t.Errorf("without runs: %+v", nothing)
	}
	early := ran(t, task, 12, train.Result{Epochs: 100, CompileSeconds: 2, EpochSeconds: 0.08, PeakRSS: 5e8})
	all := ran(t, task, 22, train.Result{Epochs: 200, CompileSeconds: 2, EpochSeconds: 0.08, PeakRSS: 4e8})
	bench := ran(t, Whole(Bench, "cora", c), 1, Timed{Benchmark: train.Benchmark{Epochs: 3,
		EpochSeconds: 0.05, CompileSeconds: 1, PeakRSS: 6e8}})
	elsewhere := all
	elsewhere.Machine.CPU = "another"
	other := task
	other.Config.LearningRate, other.Config.Dropout, other.Config.Seed, other.Split = 0.5, 0.25, 3, 7
	longer := other
	longer.Config.Epochs = 400
	whole := task
	whole.Config.Dropout = 0 // a model without dropout has another program: see Task.program
	wider := task
	wider.Config.Hidden *= 2
	timing := Whole(Bench, "cora", c)
	timing.Config.Epochs = 5
	for _, x := range []struct {
		what    string
		records []Record
		task    Task
		seconds float64
		bytes   int64 // 0 if only a lower bound is expected
	}{
		{"the same run", []Record{early}, task, 12, 5e8},
		{"settings that leave the work as it is", []Record{early}, other, 12, 5e8},
		{"more epochs, stopped early", []Record{early}, longer, 12, 5e8},
		{"more epochs, all run", []Record{all}, longer, 42, 4e8},
		{"the median, and the least memory", []Record{early, all}, other, 17, 4e8},
		{"steps timed", []Record{bench}, other, 1 + 200*0.05, 6e8},
		{"trainings before steps", []Record{bench, early}, other, 12, 5e8},
		{"a benchmark", []Record{early}, timing, 2 + 5*0.08, 5e8},
		{"another machine", []Record{elsewhere}, task, 0, 4e8},
		{"without dropout", []Record{early}, whole, 0, 0},
		{"another program", []Record{early}, wider, 0, 0},
	} {
		got := NewCosts(x.records, "").Of(x.task)
		if math.Abs(got.Seconds-x.seconds) > 1e-9 || got.AtLeast != (x.bytes == 0) || x.bytes > 0 &&
			got.Bytes != x.bytes {
			t.Errorf("%s: %+v, want %g s and %d bytes", x.what, got, x.seconds, x.bytes)
		}
	}
}

func TestPlanSaysWhatIsNotKnown(t *testing.T) {
	c := train.Default("gcn")
	known, unknown := Training("cora", 0, c), Training("photo", 0, c)
	unknown.Config.Hidden = 8
	work := func(v *View) {
		for _, task := range []Task{known, unknown} {
			Ask[Trained](v, task)
		}
	}
	again := known
	again.Config.Seed = 5
	costs := NewCosts([]Record{ran(t, again, 90, train.Result{Epochs: c.Epochs, PeakRSS: 1e9})}, "")
	record := ran(t, again, 90, train.Result{Epochs: c.Epochs})
	if got := NewCosts([]Record{record}, "another").Of(known); got.Seconds != 0 {
		t.Errorf("a run on one engine tells the time on another: %+v", got)
	}
	p := plan(Scope{Profile: Profile{Datasets: []string{"cora", "photo"}}}, nil, costs, work, Shard{})
	if p.Missing != 2 || p.Unknown != 1 || p.Seconds != 90 || p.Bytes != 1e9 || !p.AtLeast ||
		p.Time() != "at least 2 min, and 1 run whose time is not known yet" {
		t.Errorf("got %+v, %s", p, p.Time())
	}
	if got := (Plan{Missing: 1, Unknown: 1}).Time(); got != "not known yet" {
		t.Errorf("got %q", got)
	}
	if got := (Plan{Seconds: 3}).Time(); got != "about 3 s" {
		t.Errorf("got %q", got)
	}
}
