package runs

import "fmt"

// Plan lists the runs that a [Work] needs, and their cost.
type Plan struct {
	Steps []Step `json:"steps"`
	// Skipped is the number of runs that belong to other shards. They are not in Steps.
	Skipped int `json:"skipped"`
	Done    int `json:"done"`
	Missing int `json:"missing"`
	// Seconds is the time of all missing steps, except Unknown many whose time cannot be estimated.
	Seconds float64 `json:"seconds"`
	Unknown int     `json:"unknown"`
	// Bytes is the memory of the missing step that needs most. AtLeast says that some steps' is only a lower bound.
	Bytes   int64 `json:"bytes"`
	AtLeast bool  `json:"bytes_at_least"`
}

// plan lists the runs of a shard that the work needs.
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

// Time returns the estimated time of the missing runs as text.
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
