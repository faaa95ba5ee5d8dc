package runs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/models"
)

// NotYet is the text of [Answer.Why] for a run that has no record yet, but that a [Runner] would make.
const NotYet = "not run yet"

// Scope says which runs are wanted.
type Scope struct {
	Profile Profile
	// If Datasets is not nil, it replaces the profile's list of datasets. If Splits is not nil, it replaces the
	// profile's list of splits. If Models is not nil, only these models are run.
	Datasets, Models []string
	Splits           []int
	// Absent returns a sentence that says why a dataset cannot be loaded. If the dataset can be loaded, Absent returns
	// an empty text. If the function Absent is nil, all datasets can be loaded.
	Absent func(dataset string) string
}

// Work is a function that asks a [View] for the results of runs. It may make something of the results, such as a table.
// A Work may be called several times.
type Work func(v *View)

// View gives a [Work] the results of runs from their records, and notes which runs the work asks for.
type View struct {
	Scope
	records Records
	steps   []Step
	known   map[string]bool
	used    []*Record
	group   string
}

// Step is a task that a [Work] asked for.
type Step struct {
	Task `json:"task"`
	Key  string `json:"key"`
	// Group is the name of the group that the task belongs to. For example, the trainings that compare candidates and
	// the trainings with the chosen settings form a group.
	Group string `json:"group"`
	// If Done is true, the run is recorded. If Provisional is true, the settings of the run are not chosen yet. In this
	// case, the task has the settings of the candidate that takes the most work, so that the cost of the run can be
	// estimated.
	Done        bool `json:"done"`
	Provisional bool `json:"provisional"`
	Cost        Cost `json:"cost"`
}

// NewView returns a View that finds the results of runs in the given records.
func NewView(s Scope, records Records) *View {
	return &View{Scope: s, records: records, known: map[string]bool{}}
}

// Within calls f. The tasks that f asks for belong to the group with the given name.
func (v *View) Within(group string, f func()) {
	before := v.group
	v.group = group
	f()
	v.group = before
}

// Used calls f, and returns the records whose results the view gave to f.
func (v *View) Used(f func()) []*Record {
	before := v.used
	v.used = nil
	f()
	used := v.used
	v.used = before
	return used
}

// Steps returns a step for each task that the view was asked for so far.
func (v *View) Steps() []Step { return v.steps }

// unwanted returns a sentence that says why a model is not run on a dataset. It returns an empty text if the model is
// run on the dataset.
func (v *View) unwanted(dataset, model string) string {
	base := data.Base(dataset)
	switch {
	case v.Datasets != nil && !slices.Contains(v.Datasets, base) && IsPublic(base):
		return "not run: not among the --datasets chosen"
	case v.Datasets == nil && !slices.Contains(v.Profile.Datasets, base) && IsPublic(base):
		return fmt.Sprintf("not run: the dataset is not part of the profile %s; choose it with reproduce --datasets",
			v.Profile.Name)
	case v.Models != nil && model != "" && !slices.Contains(v.Models, model):
		return "not run: not among the --models chosen"
	case v.Models == nil && v.Datasets == nil && v.Profile.leftOut(base, model) != "":
		return fmt.Sprintf("not run: %s; name it with --models", v.Profile.leftOut(base, model))
	}
	if v.Absent != nil {
		return v.Absent(dataset)
	}
	return ""
}

// IsPublic tells whether a dataset is one of the paper's public datasets. All other datasets are generated graphs. The
// flag --datasets, by which users choose public datasets, does not leave out generated graphs.
func IsPublic(dataset string) bool { return slices.Contains(Datasets(), dataset) }

// Datasets returns the names of the paper's public datasets, in the order in which the paper lists them.
func Datasets() []string {
	sets, err := data.Datasets()
	if err != nil {
		panic(err) // cannot happen: the list of datasets is part of the executable
	}
	names := make([]string, len(sets))
	for i, d := range sets {
		names[i] = d.Name
	}
	return names
}

// CheckChoice returns an error if one of the given datasets is not public, or if one of the chosen models does not
// exist. The error names the dataset or the model.
func CheckChoice(datasets, chosen []string) error {
	for _, d := range datasets {
		if !IsPublic(d) {
			return fmt.Errorf("%q is not a dataset of the paper: choose from %s", d, strings.Join(Datasets(), ", "))
		}
	}
	for _, m := range chosen {
		if _, err := models.Lookup(m); err != nil {
			return err
		}
	}
	return nil
}

// expect notes a provisional step. Such a step stands for a run that will be needed, but whose settings are not chosen
// yet.
func (v *View) expect(t Task) {
	if v.unwanted(t.Dataset, t.Config.Model) == "" {
		v.steps = append(v.steps, Step{Task: t, Group: v.groupOf(t.Key()), Provisional: true})
	}
}

func (v *View) groupOf(key string) string {
	if v.group == "" {
		return key
	}
	return v.group
}

// Answer has the record and the outcome (the results) of a run. If the run has no record, Record is nil, and Why says
// why there is none. Otherwise Why is the message in the record.
type Answer[T any] struct {
	Record  *Record
	Outcome T
	Why     string
}

// OK tells whether the run is recorded and went well.
func (a Answer[T]) OK() bool { return a.Record != nil && a.Record.Status == OK }

// Ask notes that the run of the task t is needed. If this run is recorded, Ask returns its record and its outcome (the
// results).
func Ask[T any](v *View, t Task) (a Answer[T]) {
	key := t.Key()
	r := v.records.Of(t)
	if r == nil {
		if a.Why = v.unwanted(t.Dataset, t.Config.Model); a.Why != "" {
			return a
		}
		a.Why = NotYet
	}
	if !v.known[key] {
		v.known[key] = true
		v.steps = append(v.steps, Step{Task: t, Key: key, Group: v.groupOf(key), Done: r != nil})
	}
	if r == nil {
		return a
	}
	if !slices.Contains(v.used, r) {
		v.used = append(v.used, r)
	}
	a.Record, a.Why = r, r.Message
	if len(r.Outcome) > 0 {
		if err := json.Unmarshal(r.Outcome, &a.Outcome); err != nil {
			return Answer[T]{Why: fmt.Sprintf("its record %s is damaged: %v", r.ID, err)}
		}
	}
	return a
}
