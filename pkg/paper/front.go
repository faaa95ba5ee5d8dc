package paper

import (
	"cmp"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
)

//go:embed front.html
var frontHTML string

// overview is what the front page shows whole and a notebook in parts: the scorecard, every claim, and pictures of all
// tables and figures.
type overview struct {
	Card      *Scorecard
	Groups    []frontGroup
	Total     int // of runs
	who       *report.Table
	documents []*Document
	pages     map[string]string // of documents, by their names
	claims    []frontClaim
}

// frontGroup is a group of claims, whole or, if it is about cells, table by table.
type frontGroup struct {
	GroupScore
	Sections []section
}

// section is a set of claims that are counted, and listed by verdict, together. Anchor is that of its group's heading;
// the anchors of its lists begin with ID. A notebook has neither.
type section struct {
	Title, Anchor, ID string
	Claims            []frontClaim
}

// frontClaim is a claim and the page that shows its runs.
type frontClaim struct {
	Judgement
	Page string
}

// frontCard is a table or figure on the front page; the section has the claims that it bears on.
type frontCard struct {
	section
	Page     string
	Pictures []thumbnail
	Runs     int
	Days     string
}

type thumbnail struct {
	Source template.URL // the picture itself
	Alt    string
	Width  int // CSS pixels; half the card's width where two pictures fit side by side
}

// look makes the overview. In a notebook, links lead to notebooks, otherwise to pages.
func look(s *Scorecard, documents []*Document, notebook bool) *overview {
	o := &overview{Card: s, documents: documents, pages: map[string]string{}}
	records := map[string]*runs.Record{}
	for _, d := range documents {
		o.pages[d.Name] = d.Name + ".html"
		if notebook {
			o.pages[d.Name] = d.Name + ".ipynb"
		}
		for _, r := range d.Records {
			records[r.ID] = r
		}
	}
	for _, j := range s.Claims {
		o.claims = append(o.claims, frontClaim{j, o.pages[j.Shown]})
		for _, r := range j.runs {
			records[r.ID] = r
		}
	}
	for _, g := range s.Groups {
		all := section{Title: capital(g.Title),
			Claims: o.of(func(c frontClaim) bool { return c.Group == g.Name })}
		if !notebook {
			all.Anchor, all.ID = g.Name, g.Name
		}
		group := frontGroup{g, []section{all}}
		if all.Cells() {
			group.Sections = all.byTable()
		}
		o.Groups = append(o.Groups, group)
	}
	o.Total = len(records)
	o.who = who(slices.SortedFunc(maps.Values(records), func(a, b *runs.Record) int {
		return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.ID, b.ID))
	}))
	return o
}

func (o *overview) of(whether func(c frontClaim) bool) (some []frontClaim) {
	for _, c := range o.claims {
		if whether(c) {
			some = append(some, c)
		}
	}
	return some
}

// Pictures returns the cards of all tables and figures. Drawing them takes a second or two.
func (o *overview) Pictures() (all []frontCard, err error) {
	for _, d := range o.documents {
		c := frontCard{Page: o.pages[d.Name], Runs: len(d.Records), section: section{Title: d.Title,
			Claims: o.of(func(c frontClaim) bool { return c.Shown == d.Name })}}
		if c.Runs > 0 {
			c.Days = days(d.Records)
		}
		if c.Pictures, err = d.thumbnails(); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// thumbnails are small pictures of the figures, or else of the first table: others repeat numbers or list settings.
func (d *Document) thumbnails() (all []thumbnail, err error) {
	for i, item := range d.Items() {
		if _, table := item.(*report.Table); table && i > 0 {
			break
		}
		png, err := report.Thumbnail(item)
		if err != nil {
			return nil, err
		}
		small := thumbnail{Source: template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(png)),
			Alt: d.Title, Width: 316}
		if f, ok := item.(*report.Figure); ok {
			small.Alt = f.Text()
			if len(d.Figures) > 1 && 5*f.Width < 12*f.Height {
				small.Width = 156
			}
		}
		all = append(all, small)
	}
	return all, nil
}

// part fills in one of the templates of front.html.
func (o *overview) part(name string) (string, error) {
	t, err := template.New("front").Funcs(template.FuncMap{"verdicts": func() []Verdict { return Verdicts }}).
		Parse(frontHTML)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.ExecuteTemplate(&b, name, o)
	return b.String(), err
}

// Who returns the table of the machines that made the runs, and when.
func (o *overview) Who() (template.HTML, error) {
	text, err := o.who.HTML()
	return template.HTML(text), err // Table.HTML has escaped its text
}

// Sections returns the sections about cells, or all others.
func (o *overview) Sections(cells bool) (all []section) {
	for _, g := range o.Groups {
		all = append(all, slices.DeleteFunc(slices.Clone(g.Sections), func(s section) bool { return s.Cells() != cells })...)
	}
	return all
}

// Scores returns the rows of the scorecard about cells, or about all other claims, with their sum.
func (o *overview) Scores(cells bool) []section {
	all, sum := o.Sections(cells), section{Title: "All"}
	for _, s := range all {
		sum.Claims = append(sum.Claims, s.Claims...)
	}
	return append(all, sum)
}

// Cells tells whether the claims are about cells of a table, which are also shown as a coloured grid.
func (s section) Cells() bool { return len(s.Claims) > 0 && s.Claims[0].cell() }

// byTable divides a section of cells by their tables.
func (s section) byTable() (all []section) {
	for _, c := range s.Claims {
		i := slices.IndexFunc(all, func(t section) bool { return t.Title == capital(c.Where) })
		if i < 0 {
			i = len(all)
			all = append(all, section{Title: capital(c.Where), Anchor: s.Anchor})
			if s.ID != "" {
				all[i].ID = s.ID + "-" + c.Shown
			}
		}
		all[i].Claims = append(all[i].Claims, c)
	}
	return all
}

// With returns the claims with a verdict.
func (s section) With(v Verdict) (some []frontClaim) {
	for _, c := range s.Claims {
		if c.Verdict == v {
			some = append(some, c)
		}
	}
	return some
}

// Percent returns the share of the claims with a verdict.
func (s section) Percent(v Verdict) float64 {
	return 100 * float64(len(s.With(v))) / float64(len(s.Claims))
}

// Heading is the title of the list of claims with a verdict; for cells, the verdict in published standard deviations.
func (s section) Heading(v Verdict) string {
	if !s.Cells() {
		return string(v)
	}
	return s.Claims[0].Where + ", " + map[Verdict]string{Reproduced: WithinOne, Weaker: WithinTwo,
		NotReproduced: "beyond two std", NotRun: string(NotRun)}[v]
}

// gridRow is the row of a model in the grid of a table's cells.
type gridRow struct {
	Label string
	Cells []frontClaim
}

// Rows returns the cells by model, in the order of the table.
func (s section) Rows() (rows []gridRow) {
	for _, c := range s.Claims {
		if n := len(rows); n == 0 || rows[n-1].Cells[0].Model != c.Model {
			rows = append(rows, gridRow{Label: titleOf(c.Model)})
		}
		last := &rows[len(rows)-1]
		last.Cells = append(last.Cells, c)
	}
	return rows
}

// Run tells whether any cell of the row was run. The grid leaves out other rows and lists their names below.
func (r gridRow) Run() bool {
	return slices.ContainsFunc(r.Cells, func(c frontClaim) bool { return c.Verdict != NotRun })
}

// NotRun returns the names of the rows that were not run.
func (s section) NotRun() (names []string) {
	for _, r := range s.Rows() {
		if !r.Run() {
			names = append(names, r.Label)
		}
	}
	return names
}

// Class returns the verdict as part of an HTML anchor, such as "not-run".
func (v Verdict) Class() string { return strings.ReplaceAll(string(v), " ", "-") }

// Style returns the verdict's colours in CSS.
func (v Verdict) Style() template.CSS {
	return map[Verdict]template.CSS{Reproduced: "background:#00734f;color:#fff", Weaker: "background:#a8dcc8;color:#222",
		NotReproduced: "background:#b84a00;color:#fff", NotRun: "background:#ececec;color:#5f5f5f"}[v]
}

// Style returns the colours of the claim's verdict, with one more for a cell far above the published number.
func (c frontClaim) Style() template.CSS {
	if c.Degree == Above {
		return "background:#f2b48a;color:#222"
	}
	return c.Verdict.Style()
}

// To returns where a cell of the grid leads: to the table's notebook, or to the claim's row on the front page.
func (c frontClaim) To() string {
	if strings.HasSuffix(c.Page, ".ipynb") {
		return c.Page
	}
	return "#" + c.ID
}

// Apart returns our number less the published one for the grid: "·" if there is no run, and "diverged" if there is no
// number for another reason.
func (c frontClaim) Apart() string {
	switch {
	case c.Verdict == NotRun:
		return "·"
	case c.Ours == nil || c.Paper == nil:
		return "diverged"
	}
	return strings.ReplaceAll(fmt.Sprintf("%+.1f", *c.Ours-*c.Paper), "-", "−")
}
