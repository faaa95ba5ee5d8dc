package runs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/models"
)

// NotYet is [Answer.Why] for a run that has no record yet, but that a [Runner] would make.
const NotYet = "not run yet"

// Scope says which runs are wanted.
type Scope struct {
	Profile Profile
	// If not nil, Datasets and Splits replace the profile's lists, and only Models are run.
	Datasets, Models []string
	Splits           []int
	// Absent, if not nil, says in a sentence why a dataset cannot be loaded; "" if it can.
	Absent func(dataset string) string
}

// Work asks a [View] for the results of runs, and may make something of them. It may be called several times.
type Work func(v *View)

// View gives a [Work] the results of runs from their records, and notes which ones it asks for.
type View struct {
	Scope
	records Records
	steps   []Step
	known   map[string]bool
	chosen  map[string]chosen // by name and [search]
	used    []*Record
	group   string
}

// chosen is what a search found, and the records behind it.
type chosen struct {
	Found
	used []*Record
}

// Step is a task that a [Work] asked for.
type Step struct {
	Task `json:"task"`
	Key  string `json:"key"`
	// Tasks of one group, such as the trainings that compare candidates and those with the chosen settings, are made on
	// the same machine ([Shard]).
	Group string `json:"group"`
	// A step is provisional if its settings are not chosen yet. It then has those of the candidate that takes the most
	// work, for an estimate of the cost.
	Done        bool `json:"done"`
	Provisional bool `json:"provisional"`
	Cost        Cost `json:"cost"`
}

// NewView returns a View that finds the results of runs in the given records.
func NewView(s Scope, records Records) *View {
	return &View{Scope: s, records: records, known: map[string]bool{}, chosen: map[string]chosen{}}
}

// Within calls f, whose tasks belong to the named group.
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

func (v *View) use(records ...*Record) {
	for _, r := range records {
		if !slices.Contains(v.used, r) {
			v.used = append(v.used, r)
		}
	}
}

func (v *View) Steps() []Step { return v.steps }

// unwanted returns a sentence that says why a model is not run on a dataset, or "".
func (v *View) unwanted(dataset, model string) string {
	base, p := data.Base(dataset), v.Profile
	switch {
	case v.Datasets != nil && !slices.Contains(v.Datasets, base) && IsPublic(base):
		return "not run: not among the --datasets chosen"
	case v.Datasets == nil && !slices.Contains(p.Datasets, base) && IsPublic(base):
		return fmt.Sprintf("not run: the dataset is not part of the profile %s; choose it with reproduce --datasets",
			p.Name)
	case v.Models != nil && model != "" && !slices.Contains(v.Models, model):
		return "not run: not among the --models chosen"
	case v.Models == nil && v.Datasets == nil && p.leftOut(base, model) != "":
		return fmt.Sprintf("not run: %s; name it with --models", p.leftOut(base, model))
	case v.Absent != nil:
		return v.Absent(dataset)
	}
	return ""
}

// IsPublic tells whether a dataset is one of the paper's public ones. The flag --datasets chooses among these, and
// never leaves out generated graphs.
func IsPublic(dataset string) bool { return slices.Contains(Datasets(), dataset) }

// Datasets returns the names of the paper's public datasets, in its order.
func Datasets() []string {
	var names []string
	for _, d := range data.Datasets() {
		names = append(names, d.Name)
	}
	return names
}

// CheckChoice returns an error if a dataset is not public, or a model does not exist. It replaces models' aliases by
// their names.
func CheckChoice(datasets, chosen []string) error {
	for _, d := range datasets {
		if !IsPublic(d) {
			return fmt.Errorf("%q is not a dataset of the paper: choose from %s", d, strings.Join(Datasets(), ", "))
		}
	}
	for i, m := range chosen {
		k, err := models.Lookup(m)
		if err != nil {
			return err
		}
		chosen[i] = k.Name
	}
	return nil
}

// Answer has the record and the outcome of a run. Without a record, Why says why there is none; otherwise it is the
// message of the record.
type Answer[T any] struct {
	Record  *Record
	Outcome T
	Why     string
}

// OK tells whether the run is recorded and went well.
func (a Answer[T]) OK() bool { return a.Record != nil && a.Record.Status == OK }

// Ask notes that a task is needed, and returns its record and outcome if it has been run.
func Ask[T any](v *View, t Task) (a Answer[T]) {
	key := t.Key()
	r := v.records.of(t, key)
	if r == nil {
		if a.Why = v.unwanted(t.Dataset, t.Config.Model); a.Why != "" {
			return a
		}
		a.Why = NotYet
	}
	if !v.known[key] {
		v.known[key] = true
		v.steps = append(v.steps, Step{Task: t, Key: key, Group: cmp.Or(v.group, key), Done: r != nil})
	}
	if r == nil {
		return a
	}
	v.use(r)
	a.Record, a.Why = r, r.Message
	if len(r.Outcome) > 0 {
		if err := json.Unmarshal(r.Outcome, &a.Outcome); err != nil {
			return Answer[T]{Why: fmt.Sprintf("its record %s is damaged: %v", r.ID, err)}
		}
	}
	return a
}
