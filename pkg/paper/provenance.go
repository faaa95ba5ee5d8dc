package paper

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/results"
)

// Provenance says in sentences what a document's runs are: their profile, engine, machine, versions, commit and
// dates, and how many went wrong.
func (d *Document) Provenance(p Profile) []string {
	out := []string{p.About}
	if len(d.Records) == 0 {
		return append(out, "No runs yet.")
	}
	out = append(out, fmt.Sprintf("%s of %s; engine %s; machine %s.", count(len(d.Records), "run"), d.days(),
		d.each(func(r *results.Record) string { return r.Engine }), d.each(machineText)))
	commit := d.each(func(r *results.Record) string { return r.Commit })
	if commit == "" {
		commit = "not known"
	}
	out = append(out, fmt.Sprintf("Commit %s; %s.", commit, d.each(versions)))
	bad := map[string]int{}
	for _, r := range d.Records {
		if r.Status != results.OK {
			bad[r.Status]++
		}
	}
	for _, status := range slices.Sorted(maps.Keys(bad)) {
		out = append(out, fmt.Sprintf("%s %s; see the table or the notes.", count(bad[status], "run"), status))
	}
	return out
}

// machineText says where a run ran.
func machineText(r *results.Record) string {
	m := r.Machine
	return fmt.Sprintf("%s of %s (%s)", count(m.Cores, "core"), strings.TrimSpace(m.CPU+" "+m.GPU), m.Platform)
}

// each is what the document's records say, each answer once.
func (d *Document) each(of func(*results.Record) string) string {
	set := map[string]bool{}
	for _, r := range d.Records {
		if s := of(r); s != "" {
			set[s] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(set)), "; ")
}

// days are those of the first run and of the last.
func (d *Document) days() string {
	byTime := func(a, b *results.Record) int { return a.Started.Compare(b.Started) }
	const day = "2006-01-02"
	first := slices.MinFunc(d.Records, byTime).Started.Format(day)
	last := slices.MaxFunc(d.Records, byTime).Started.Format(day)
	if first == last {
		return first
	}
	return first + " to " + last
}

// versions are those of the modules that a run was made with.
func versions(r *results.Record) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		all = append(all, name+" "+r.Versions[name])
	}
	return strings.Join(all, ", ")
}
