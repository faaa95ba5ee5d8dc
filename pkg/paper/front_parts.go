package paper

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// score is a row of the scorecard on the front page. For each verdict, it has the number of claims with this verdict.
// Each number is a link to the list of the claims that it counts.
type score struct {
	Title, Anchor string
	Bar           bar
	Counts        []tally
}

// tally is a number of claims. List is the HTML anchor of the list of these claims.
type tally struct {
	Count int
	List  string
}

// frontList is a list of claims on the front page. All claims in the list are of the same group and have the same
// verdict.
type frontList struct {
	ID, Title string
	Verdict   Verdict
	Claims    []frontClaim
}

// listsOf divides claims by their verdicts. It returns one list of claims for each entry of [Verdicts], in the same
// order. A list is empty if no claim has its verdict. The HTML anchors of the lists begin with id.
func listsOf(id string, claims []frontClaim) (all []frontList) {
	for _, v := range Verdicts {
		l := frontList{ID: id + "-" + v.Class(), Title: string(v), Verdict: v}
		for _, c := range claims {
			if c.Verdict == v {
				l.Claims = append(l.Claims, c)
			}
		}
		if len(l.Claims) > 0 && l.Claims[0].cell() {
			l.Title = l.Claims[0].Where + ", " + cellVerdicts[v]
		}
		all = append(all, l)
	}
	return all
}

// cellVerdicts says what each verdict means for a cell of a table: how far our mean is from the published mean, in
// published standard deviations (std).
var cellVerdicts = map[Verdict]string{Reproduced: WithinOne, Weaker: WithinTwo, NotReproduced: "beyond two std",
	NotRun: string(NotRun)}

// Open tells whether the front page shows all lines of the list at once. Otherwise the list is folded: it opens when
// the reader clicks on its title. Lists of claims that were not run are folded. Lists of claims about cells are folded,
// too, since the page also shows the cells as coloured grids. The list must not be empty.
func (l frontList) Open() bool { return l.Verdict != NotRun && !l.Claims[0].cell() }

func scoreOf(title, anchor string, lists []frontList) score {
	s := score{Title: strings.ToUpper(title[:1]) + title[1:], Anchor: anchor}
	for _, l := range lists {
		s.Counts = append(s.Counts, tally{len(l.Claims), l.ID})
	}
	s.Bar = s.bar()
	return s
}

// total appends a last row to rows of the scorecard. The new row has the number of claims with each verdict, added up
// over all rows.
func total(scores []score) []score {
	all := score{Title: "All", Counts: make([]tally, len(Verdicts))}
	for _, s := range scores {
		for i, c := range s.Counts {
			all.Counts[i].Count += c.Count
		}
	}
	all.Bar = all.bar()
	return append(scores, all)
}

// bar is a horizontal bar on a page. It has a part for each verdict. The length of the part shows how many claims have
// this verdict.
type bar []barPart

type barPart struct {
	Verdict Verdict
	Count   int
	Percent float64
}

func (s score) bar() bar {
	counts := map[Verdict]int{}
	for i, c := range s.Counts {
		counts[Verdicts[i]] = c.Count
	}
	return barOf(counts)
}

// barOf makes a [bar] from the number of claims with each verdict. Verdicts that no claim has get no part of the bar.
func barOf(counts map[Verdict]int) (b bar) {
	all := 0
	for _, n := range counts {
		all += n
	}
	for _, v := range Verdicts {
		if n := counts[v]; n > 0 {
			b = append(b, barPart{v, n, 100 * float64(n) / float64(all)})
		}
	}
	return b
}

// Class returns the verdict with hyphens in place of spaces, such as "not-run". In this form it can be a part of an
// HTML anchor.
func (v Verdict) Class() string { return strings.ReplaceAll(string(v), " ", "-") }

// Style returns the verdict's colours in CSS.
func (v Verdict) Style() template.CSS {
	return map[Verdict]template.CSS{Reproduced: "background:#00734f;color:#fff", Weaker: "background:#a8dcc8;color:#222",
		NotReproduced: "background:#b84a00;color:#fff", NotRun: "background:#ececec;color:#5f5f5f"}[v]
}

// Style returns the colours for a claim in CSS. They show the claim's verdict. If the claim is about a number of one of
// the paper's tables, and was not reproduced, they also show whether our number is above or below the published number.
func (c frontClaim) Style() template.CSS {
	if c.Degree == Above {
		return "background:#f2b48a;color:#222"
	}
	return c.Verdict.Style()
}

// To returns the target of a claim's link. The link is in a [grid], which shows the claims about one of the paper's
// tables. In a notebook, the link leads to the notebook with this table. On the front page, the link leads to a place
// on the same page: the row about this claim in a list of claims.
func (c frontClaim) To() string {
	if strings.HasSuffix(c.Page, ".ipynb") {
		return c.Page
	}
	return "#" + c.ID
}

// Apart returns our number minus the published number, as text for a [grid]. The text is "·" if the claim
// was not run, and "diverged" if one of the two numbers is missing for another reason.
func (c frontClaim) Apart() string {
	switch {
	case c.Verdict == NotRun:
		return "·"
	case c.Ours == nil || c.Paper == nil:
		return "diverged"
	}
	return strings.ReplaceAll(fmt.Sprintf("%+.1f", *c.Ours-*c.Paper), "-", "−")
}

// grid shows the cells of one of the paper's tables. It has a row for each model and a column for each dataset, in the
// same order as the table. The colour of a cell shows its verdict.
type grid struct {
	Title, Page, Shown string
	Columns            []string
	Rows               []gridRow
}

type gridRow struct {
	Label string
	Cells []frontClaim
}

// gridsOf makes a [grid] for each of the paper's tables that have cells. The argument called cells has the claims about
// the cells of all these tables. The field Where of a claim names its table.
func gridsOf(cells []frontClaim) (all []grid) {
	for _, c := range cells {
		i := slices.IndexFunc(all, func(g grid) bool { return g.Title == c.Where })
		if i < 0 {
			i = len(all)
			all = append(all, grid{Title: c.Where, Page: c.Page, Shown: c.Shown})
		}
		all[i].add(c)
	}
	return all
}

// add appends a cell to the row of the cell's model. If the grid has no such row yet, add makes it. The grid gets a
// column for the dataset of each cell in the first row.
func (g *grid) add(c frontClaim) {
	label := titleOf(c.Model)
	i := slices.IndexFunc(g.Rows, func(r gridRow) bool { return r.Label == label })
	if i < 0 {
		i = len(g.Rows)
		g.Rows = append(g.Rows, gridRow{Label: label})
	}
	g.Rows[i].Cells = append(g.Rows[i].Cells, c)
	if i == 0 {
		g.Columns = append(g.Columns, c.Dataset)
	}
}

// claims returns the claims about the cells of the grid, row by row.
func (g grid) claims() (all []frontClaim) {
	for _, r := range g.Rows {
		all = append(all, r.Cells...)
	}
	return all
}

// Run is false if every cell of the row has the verdict "not run". The page does not show such a row in the grid.
func (r gridRow) Run() bool {
	return slices.ContainsFunc(r.Cells, func(c frontClaim) bool { return c.Verdict != NotRun })
}

// Rest returns the labels of the rows in which every cell has the verdict "not run". The page lists these labels below
// the grid.
func (g grid) Rest() (names []string) {
	for _, r := range g.Rows {
		if !r.Run() {
			names = append(names, r.Label)
		}
	}
	return names
}
