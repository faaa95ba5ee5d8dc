package runs

import (
	"encoding/json"
	"testing"

	"github.com/revgnn/revgnn/pkg/train"
)

func TestKeys(t *testing.T) {
	a := Training("cora", 0, train.Default("gcn"))
	same := a
	if a.Key() != same.Key() || len(a.Key()) != 64 {
		t.Errorf("keys %q and %q", a.Key(), same.Key())
	}
	for name, change := range map[string]func(x *Task){
		"split": func(x *Task) { x.Split = 1 }, "dataset": func(x *Task) { x.Dataset = "photo" },
		"seed":   func(x *Task) { x.Config.Seed = 1 },
		"kind":   func(x *Task) { x.Kind = Bench },
		"follow": func(x *Task) { x.Trace = &Trace{Layers: []int{1}} },
	} {
		b := a
		if change(&b); b.Key() == a.Key() {
			t.Errorf("another %s has the same key", name)
		}
	}
	deep, shallow := a, a
	deep.Trace, shallow.Trace = &Trace{Layers: []int{1, 8, 0, 16}}, &Trace{Layers: []int{0, 1, 8, 1024}}
	if deep.Key() != shallow.Key() {
		t.Error("layers that the model does not have make another key")
	}
}

// TestRecordsOfEarlierVersions: the record of a task is found even if an earlier version of revgnn wrote it. In earlier
// versions, the models had other settings, and keys were computed in another way.
func TestRecordsOfEarlierVersions(t *testing.T) {
	config := `{"adjoint":"implicit","dropout":0.5,"epochs":200,"forward":2,"head_layers":2,"heads":1,"hidden":64,
		"lipschitz":0.999,"lr":0.01,"max_iterations":10,
		"model":"gcn","norm":"none","normalise":"project","patience":50,"reverse":0,
		"seed":0,"tolerance":1e-05,"weight_decay":0}`
	c := train.Default("gcn")
	c.Dropout, c.Epochs, c.Forward, c.LearningRate, c.Patience = 0.5, 200, 2, 0.01, 50
	plain := Training("cora", 1, c)
	followed := plain
	followed.Trace = &Trace{Layers: []int{0, 1, 2, 4, 8}, Boards: []Part{{1, 2, 3, 100}}}
	record := func(outcome, status string) Record {
		return Record{Key: "ab", Kind: Train, Dataset: "cora", Split: 1,
			Config: json.RawMessage(config), Outcome: json.RawMessage(outcome), Status: status}
	}
	boards := `{"followed":{"forward":[{"layer":0,"gsl":1},{"layer":1,"gsl":1},{"layer":2,"gsl":null}],
		"boards":[{"row":1,"col":2,"side":3,"width":100,"mines":[],"probability":[]}]}}`
	found := index([]Record{record(`{"val":0.5}`, OK), record(boards, OK)})
	if len(found) != 2 || found.of(plain, plain.Key()) == nil || found.of(followed, followed.Key()) == nil ||
		found.of(plain, plain.Key()) == found.of(followed, followed.Key()) {
		t.Errorf("got %v", found)
	}
	// The task asks for states of the trained model. The record of a training that diverged has no states, but it must
	// be found for this task.
	found = index([]Record{record(`{"val":null}`, Diverged)})
	if found.of(followed, followed.Key()) == nil {
		t.Error("a training that diverged is not found where its states are asked for")
	}
	// A record with an unknown model, and a record with an unknown setting, must be ignored.
	bad := []Record{{Kind: Train, Config: json.RawMessage(`{"model":"gcn+pep"}`)},
		{Kind: Train, Config: json.RawMessage(`{"model":"gcn","widht":3}`)}}
	if found = index(bad); len(found) != 0 {
		t.Errorf("got %v", found)
	}
}

// TestLatestCounts: if a task has several records, [index] takes the latest one. It takes the record of a failed run
// only if all runs of the task failed.
func TestLatestCounts(t *testing.T) {
	record := func(status, message string) Record {
		return Record{Kind: Measure, Dataset: "cora", Split: NoSplit, Status: status,
			Message: message}
	}
	task := Whole(Measure, "cora", train.Config{})
	for _, c := range []struct {
		all  []Record
		want string
	}{
		{[]Record{record(OK, "1"), record(Diverged, "2")}, "2"},
		{[]Record{record(OK, "1"), record(Failed, "2")}, "1"},
		{[]Record{record(Failed, "1"), record(Failed, "2")}, "2"},
	} {
		if got := index(c.all).of(task, task.Key()); got == nil || got.Message != c.want {
			t.Errorf("got %+v, want %s", got, c.want)
		}
	}
}
