package experiment

import "fmt"

// Plan is the runs that work needs.
type Plan struct {
	// Steps are all of them, also what is done or only provisional.
	Steps []Step `json:"steps"`
	// Skipped is the number of steps of other shards.
	Skipped int `json:"skipped"`
	// Done and Missing are the numbers of steps with and without a record.
	Done    int `json:"done"`
	Missing int `json:"missing"`
	// Seconds is what the missing steps should take in all, but for those, Unknown in number, of which that is not
	// known yet.
	Seconds float64 `json:"seconds"`
	Unknown int     `json:"unknown"`
	// Bytes is the most memory that any missing step needs; AtLeast tells that it is a lower bound, since some have
	// never run.
	Bytes   int64 `json:"bytes"`
	AtLeast bool  `json:"bytes_at_least"`
}

// plan lists what work needs on top of the records that are there.
func plan(s Scope, records Records, costs *Costs, work Work, shard Shard) Plan {
	v := NewView(s, records)
	work(v)
	var p Plan
	mine := shard.groups(s, work)
	for _, step := range v.steps {
		if mine != nil && !mine[step.Group] {
			p.Skipped++
			continue
		}
		step.Cost = costs.Of(step.Task)
		p.Steps = append(p.Steps, step)
		if step.Done {
			p.Done++
			continue
		}
		p.Missing++
		p.Seconds += step.Cost.Seconds
		if step.Cost.Seconds == 0 {
			p.Unknown++
		}
		p.Bytes = max(p.Bytes, step.Cost.Bytes)
		p.AtLeast = p.AtLeast || step.Cost.AtLeast
	}
	return p
}

// Time says for people how long the missing runs take.
func (p Plan) Time() string { return timeOf(p.Seconds, p.Unknown) }

func timeOf(seconds float64, unknown int) string {
	switch {
	case unknown == 0:
		return "about " + Duration(seconds)
	case seconds == 0:
		return "not known yet"
	case unknown == 1:
		return fmt.Sprintf("at least %s, and 1 run whose time is not known yet", Duration(seconds))
	}
	return fmt.Sprintf("at least %s, and %d runs whose time is not known yet", Duration(seconds), unknown)
}

// open are the steps to run.
func (p Plan) open(tried map[string]bool) (steps []Step) {
	for _, s := range p.Steps {
		if !s.Done && !s.Provisional && !tried[s.Key] {
			steps = append(steps, s)
		}
	}
	return steps
}
