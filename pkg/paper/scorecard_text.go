package paper

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Characters in a line of the terminal, and in its first column.
const (
	textWidth    = 116
	verdictWidth = 16
)

// Text writes the scorecard for a terminal: the counts, then the claims by group. Claims that were not run are counted
// by reason. Of chosen claims it writes only these, with the IDs of their runs.
func (s *Scorecard) Text(w io.Writer) {
	if s.Groups == nil {
		s.detail(w)
		return
	}
	fmt.Fprintf(w, "The paper's claims at the profile %s.\n", s.Profile)
	wrapped(w, "", s.About+" Verdicts are of these settings, which need not be the paper's.")
	fmt.Fprintf(w, "\n%-64s%12s%8s%16s%10s\n", "", Reproduced, Weaker, NotReproduced, NotRun)
	line := func(title string, n map[Verdict]int) {
		fmt.Fprintf(w, "%-64s%12d%8d%16d%10d\n", title, n[Reproduced], n[Weaker], n[NotReproduced], n[NotRun])
	}
	for _, g := range s.Groups {
		line(g.Title, g.Counts)
		if g.Degrees != nil {
			fmt.Fprintf(w, "  %s\n", g.apart())
		}
	}
	line("All", s.Counts)
	for _, g := range s.Groups {
		fmt.Fprintf(w, "\n%s\n", g.Title)
		wrapped(w, "  ", g.About)
		why := map[string]int{}
		for _, j := range s.Claims {
			switch {
			case j.Group != g.Name:
			case j.judged():
				j.text(w)
			default:
				why[j.Numbers]++
			}
		}
		for _, reason := range slices.Sorted(maps.Keys(why)) {
			row(w, string(NotRun), fmt.Sprintf("%s: %s", count(why[reason], "claim"), reason))
		}
	}
	fmt.Fprintf(w, "\nThe runs behind a claim: revgnn claims ID, with an ID from above or the beginning of some.\n")
}

func (g GroupScore) apart() string {
	var parts []string
	for _, d := range []string{WithinOne, WithinTwo, Below, Above} {
		parts = append(parts, fmt.Sprintf("%s: %d", d, g.Degrees[d]))
	}
	return strings.Join(parts, ", ")
}

func (j Judgement) text(w io.Writer) {
	if j.Degree != "" {
		row(w, j.Degree, j.ID+": "+j.Numbers)
		return
	}
	row(w, string(j.Verdict), j.ID+": "+j.Says)
	row(w, "", j.Numbers)
}

func (s *Scorecard) detail(w io.Writer) {
	fmt.Fprintf(w, "At the profile %s:\n", s.Profile)
	for _, j := range s.Claims {
		fmt.Fprintln(w)
		row(w, cmp.Or(j.Degree, string(j.Verdict)), fmt.Sprintf("%s (%s): %s", j.ID, j.Where, j.Says))
		row(w, "", j.Numbers)
		if len(j.Records) > 0 {
			row(w, "", count(len(j.Records), "run")+": "+strings.Join(j.Records, " "))
		}
	}
}

// on returns the sentences for [Document.Verdicts] of an item, and how these verdicts are made.
func (s *Scorecard) on(item string) (all []string) {
	var counted []Judgement    // cells, and numbers of table 5: the table shows them one by one
	absent := map[string]int{} // for each reason why claims were not run, their number
	groups := map[string]bool{}
	for _, j := range s.Claims {
		if j.Shown != item {
			continue
		}
		groups[j.Group] = true
		switch {
		case j.cell(), item == "table5" && j.Verdict == Reproduced:
			counted = append(counted, j)
		case j.judged():
			all = append(all, j.sentence())
		default:
			absent[j.Numbers]++
		}
	}
	for _, why := range slices.Sorted(maps.Keys(absent)) {
		all = append(all, fmt.Sprintf("Not run: %s: %s", count(absent[why], "claim"), why))
	}
	if len(counted) > 0 {
		all = append(all, inAll(counted))
	}
	for _, g := range s.Groups {
		if groups[g.Name] {
			all = append(all, g.About)
		}
	}
	return all
}

func (j Judgement) sentence() string {
	verdict := string(j.Verdict)
	if j.Verdict == NotRun {
		verdict = "not decided" // there are runs, but too few
	}
	return fmt.Sprintf("%s%s: %s Here: %s", strings.ToUpper(verdict[:1]), verdict[1:], j.Says, j.Numbers)
}

// inAll counts the verdicts on claims that are not listed one by one.
func inAll(claims []Judgement) string {
	score := GroupScore{Counts: map[Verdict]int{}}
	for _, j := range claims {
		score.count(j)
	}
	if score.Degrees == nil {
		return fmt.Sprintf("Reproduced: %s of %s in the table.", count(score.Counts[Reproduced], "row"),
			count(len(claims), "row"))
	}
	return fmt.Sprintf("Our means beside the %s published: %s; not run: %d.", count(len(claims), "mean"), score.apart(),
		score.Counts[NotRun])
}

// row writes two columns, the second broken into lines.
func row(w io.Writer, head, text string) {
	for i, line := range lines(text, textWidth-verdictWidth-2) {
		if i > 0 {
			head = ""
		}
		fmt.Fprintf(w, "  %-*s%s\n", verdictWidth, head, line)
	}
}

func wrapped(w io.Writer, indent, text string) {
	for _, line := range lines(text, textWidth-len(indent)) {
		fmt.Fprintf(w, "%s%s\n", indent, line)
	}
}

// lines breaks text at spaces; a word longer than width gets a line of its own.
func lines(text string, width int) (out []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			out, line = append(out, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(out, line)
}

// Markdown returns the scorecard as a small table in Markdown.
func (s *Scorecard) Markdown() string {
	var b strings.Builder
	wrapped(&b, "", s.About+" Verdicts are of these settings, which need not be the paper's.")
	fmt.Fprintf(&b, "\n| at the profile `%s` | %s | %s | %s | %s |\n|---|---|---|---|---|\n", s.Profile, Reproduced,
		Weaker, NotReproduced, NotRun)
	line := func(title string, n map[Verdict]int) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", title, n[Reproduced], n[Weaker], n[NotReproduced], n[NotRun])
	}
	for _, g := range s.Groups {
		title := g.Title
		if g.Degrees != nil {
			title += fmt.Sprintf(" (not reproduced: %d below, %d above)", g.Degrees[Below], g.Degrees[Above])
		}
		line(title, g.Counts)
	}
	line("**all**", s.Counts)
	return b.String()
}
