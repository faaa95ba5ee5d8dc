package paper

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/revgnn/revgnn/pkg/results"
)

// Shard is part Index of Count parts of the work, from 1; the zero value is all of it.
type Shard struct{ Index, Count int }

// ParseShard reads "2/4".
func ParseShard(text string) (s Shard, err error) {
	if text == "" {
		return s, nil
	}
	if n, err := fmt.Sscanf(text+" ", "%d/%d ", &s.Index, &s.Count); n != 2 || err != nil || s.Index < 1 || s.Index > s.Count || text != fmt.Sprintf("%d/%d", s.Index, s.Count) {
		return Shard{}, fmt.Errorf("shard is %q: write i/n with i from 1 to n, for example 2/4", text)
	}
	return s, nil
}

// Plan is the work that items need.
type Plan struct {
	// Steps are all of it, also what is done or only provisional.
	Steps []Step `json:"steps"`
	// Skipped is the number of steps of other shards.
	Skipped int `json:"skipped"`
	// Done and Missing are the numbers of steps with and without a record; Seconds is an estimate for the missing ones, and
	// Bytes one of the most memory that any of them needs.
	Done        int     `json:"done"`
	Missing     int     `json:"missing"`
	Seconds     float64 `json:"seconds"`
	Bytes       float64 `json:"bytes"`
	calibration calibration
}

// Estimate is the time that a task should take, in seconds.
func (p Plan) Estimate(t Task) float64 { return p.calibration.seconds(t) }

// build asks all items for their documents, and so for their runs.
func build(v *View, items []Item) []*Document {
	var all []*Document
	for _, it := range items {
		v.used = nil
		d := it.build(v)
		d.Name, d.Title, d.Records = it.Name, it.Title, v.used
		all = append(all, d)
	}
	return all
}

// plan lists what items need on top of the records that are there.
func plan(s Scope, records map[string]*results.Record, items []Item, shard Shard) Plan {
	v := newView(s, records)
	build(v, items)
	p := Plan{calibration: calibrate(records, v.steps)}
	mine := shard.groups(s, items)
	for _, step := range v.steps {
		if mine != nil && !mine[step.Group] {
			p.Skipped++
			continue
		}
		p.Steps = append(p.Steps, step)
		if step.Done {
			p.Done++
			continue
		}
		p.Missing++
		p.Seconds += p.calibration.seconds(step.Task)
		p.Bytes = max(p.Bytes, Memory(step.Task))
	}
	return p
}

// groups are those of a shard; nil for all. They are dealt out by their estimated cost, dearest first, each to the shard with
// the least so far. Neither records nor which datasets are there count, so that all shards agree.
func (s Shard) groups(scope Scope, items []Item) map[string]bool {
	if s.Count <= 1 {
		return nil
	}
	scope.Absent = nil
	v := newView(scope, nil)
	build(v, items)
	cost := map[string]float64{}
	for _, step := range v.steps {
		cost[step.Group] += seconds(step.Task)
	}
	var names []string
	for name := range cost {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(cost[b], cost[a]), cmp.Compare(a, b))
	})
	load, mine := make([]float64, s.Count), map[string]bool{}
	for _, name := range names {
		least := 0
		for i := range load {
			if load[i] < load[least] {
				least = i
			}
		}
		load[least] += cost[name]
		if least == s.Index-1 {
			mine[name] = true
		}
	}
	return mine
}
