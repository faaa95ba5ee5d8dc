package runs

import (
	"cmp"
	"fmt"
	"slices"
)

// Shard is part Index, counted from 1, of the work divided into Count parts. The zero value is all of it.
type Shard struct{ Index, Count int }

// ParseShard reads a shard such as "2/4". An empty text stands for all of the work.
func ParseShard(text string) (s Shard, err error) {
	if text == "" {
		return s, nil
	}
	n, err := fmt.Sscanf(text+" ", "%d/%d ", &s.Index, &s.Count)
	if n != 2 || err != nil || s.Index < 1 || s.Index > s.Count || text != fmt.Sprintf("%d/%d", s.Index, s.Count) {
		return Shard{}, fmt.Errorf("shard is %q: write i/n with i from 1 to n, for example 2/4", text)
	}
	return s, nil
}

// groups returns the groups of runs that belong to the shard; nil stands for all. The group with the most work goes
// first, and each goes to the shard with the least work so far. Neither records nor a machine's datasets matter, so
// that all machines come to the same.
func (s Shard) groups(scope Scope, work Work) map[string]bool {
	if s.Count <= 1 {
		return nil
	}
	scope.Absent = nil
	v := NewView(scope, nil)
	work(v)
	size := map[string]float64{}
	var names []string
	for _, step := range v.steps {
		if size[step.Group] == 0 {
			names = append(names, step.Group)
		}
		size[step.Group] += step.Size()
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(size[b], size[a]), cmp.Compare(a, b)) })
	load, mine := make([]float64, s.Count), map[string]bool{}
	for _, name := range names {
		least := slices.Index(load, slices.Min(load))
		load[least] += size[name]
		if least == s.Index-1 {
			mine[name] = true
		}
	}
	return mine
}

// Size is a coarse measure of a task's work, only to compare tasks: about the number of values that all layers compute
// for nodes and edges, times the number of epochs.
func (t Task) Size() float64 {
	g, c := SizeOf(t.Dataset), t.Config
	size := float64(1+g.Nodes+2*g.Edges) * float64(max(1, c.Hidden)) * float64(max(1, c.Forward+c.Reverse))
	if trains(t.Kind) {
		size *= float64(max(1, c.Epochs))
	}
	return size
}
