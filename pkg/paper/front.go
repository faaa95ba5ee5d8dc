package paper

import (
	"cmp"
	_ "embed"
	"encoding/base64"
	"html/template"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/report"
	"github.com/revgnn/revgnn/pkg/runs"
)

//go:embed front.html
var frontHTML string

// glance has everything that an overview of the paper shows: the scorecard, all claims and cells, and pictures of all
// tables and figures. The front page, index.html, shows everything. A notebook shows some parts.
type glance struct {
	Card *Scorecard
	// Cells and Claims are the rows of the scorecard. A row counts how many cases got each verdict. The rows of Cells
	// are for the cells of the paper's tables, and the rows of Claims are for all other claims. The last row of each
	// list is the total.
	Cells, Claims []score
	Group         []frontGroup
	Cards         []frontCard
	// Total is the number of runs from which the overview is made.
	Total int
	who   *report.Table
	// Notebook is true if links lead to notebooks. Otherwise links lead to HTML pages.
	Notebook bool
}

// frontGroup is a group of claims on the front page. Claims about cells of the paper's tables are also shown as
// coloured grids.
type frontGroup struct {
	GroupScore
	Grids []grid
	Lists []frontList
}

// frontClaim is a case of a claim with its verdict. Page is the address of the page that shows the runs of the case. It
// is empty if there is no such page.
type frontClaim struct {
	Judgement
	Page string
}

// look makes the overview from the scorecard and the documents. If notebook is true, the links in the overview lead to
// notebooks, and otherwise to pages.
func look(s *Scorecard, documents []*Document, notebook bool) (*glance, error) {
	g := &glance{Card: s, Notebook: notebook}
	pages, records := map[string]string{}, map[string]*runs.Record{}
	for _, d := range documents {
		pages[d.Name] = d.Name + ".html"
		if notebook {
			pages[d.Name] = d.Name + ".ipynb"
		}
		card, err := cardOf(s, d, pages[d.Name])
		if err != nil {
			return nil, err
		}
		g.Cards = append(g.Cards, card)
		for _, r := range d.Records {
			records[r.ID] = r
		}
	}
	for _, score := range s.Groups {
		group := frontGroup{GroupScore: score}
		var claims []frontClaim
		for _, j := range s.Claims {
			if j.Group == score.Name {
				claims = append(claims, frontClaim{j, pages[j.Shown]})
			}
			for _, r := range j.runs {
				records[r.ID] = r
			}
		}
		if len(claims) == 0 || !claims[0].cell() {
			group.Lists = listsOf(score.Name, claims)
			g.Claims = append(g.Claims, scoreOf(score.Title, score.Name, group.Lists))
		} else {
			group.Grids = gridsOf(claims)
			for _, t := range group.Grids {
				lists := listsOf(score.Name+"-"+t.Shown, t.claims())
				group.Lists = append(group.Lists, lists...)
				g.Cells = append(g.Cells, scoreOf(t.Title, score.Name, lists))
			}
		}
		g.Group = append(g.Group, group)
	}
	g.Cells, g.Claims = total(g.Cells), total(g.Claims)
	g.Total, g.who = len(records), who(byTime(records))
	return g, nil
}

// part fills in the template with the given name, which is in front.html, and returns the HTML.
func (g *glance) part(name string) (string, error) {
	t, err := template.New("front").Parse(frontHTML)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.ExecuteTemplate(&b, name, g)
	return b.String(), err
}

// Who returns a table that shows which machines made the runs, and when.
func (g *glance) Who() (template.HTML, error) {
	text, err := g.who.HTML()
	return template.HTML(text), err // Table.HTML has escaped its text
}

// front renders the front page.
func front(s *Scorecard, documents []*Document) (string, error) {
	g, err := look(s, documents, false)
	if err != nil {
		return "", err
	}
	return g.part("front")
}

// byTime sorts runs, the oldest first.
func byTime(records map[string]*runs.Record) (all []*runs.Record) {
	for _, r := range records {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *runs.Record) int {
		return cmp.Or(a.Started.Compare(b.Started), strings.Compare(a.ID, b.ID))
	})
	return all
}

// frontCard is a table or figure on the front page. It has small pictures, a bar with the number of claims for each
// verdict, and the number and dates of the runs.
type frontCard struct {
	Name, Title, Page string
	Pictures          []thumbnail
	Bar               bar
	Runs              int
	Days              string
}

// thumbnail is a small static picture. Source is a data URL, which contains the picture itself.
type thumbnail struct {
	Source template.URL
	Alt    string
	Width  int // in CSS pixels; half of the card's width if two pictures fit side by side
}

func cardOf(s *Scorecard, d *Document, page string) (c frontCard, err error) {
	c = frontCard{Name: d.Name, Title: d.Title, Page: page, Runs: len(d.Records)}
	if c.Runs > 0 {
		c.Days = days(d.Records)
	}
	counts := map[Verdict]int{}
	for _, j := range s.Claims {
		if j.Shown == d.Name {
			counts[j.Verdict]++
		}
	}
	c.Bar = barOf(counts)
	for i, item := range d.Items() {
		if _, table := item.(*report.Table); table && i > 0 {
			break // further tables only repeat the numbers of a figure, or list settings
		}
		png, err := report.Thumbnail(item)
		if err != nil {
			return c, err
		}
		small := thumbnail{Source: template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(png)),
			Alt: d.Title, Width: 316}
		if f, ok := item.(*report.Figure); ok {
			small.Alt = f.Text()
			if len(d.Figures) > 1 && 5*f.Width < 12*f.Height {
				small.Width = 156
			}
		}
		c.Pictures = append(c.Pictures, small)
	}
	return c, nil
}

// scored is the data of the template "scores" in front.html. Scores has rows of the scorecard. Notebook is true if the
// template is shown in a notebook.
type scored struct {
	Scores   []score
	Notebook bool
}

// CellScores returns the rows of the scorecard that count cells of the paper's tables. ClaimScores returns the rows
// that count all other claims.
func (g *glance) CellScores() scored  { return scored{g.Cells, g.Notebook} }
func (g *glance) ClaimScores() scored { return scored{g.Claims, g.Notebook} }

// AllGrids returns the grids of all groups. The template "grids" calls this method.
func (g *glance) AllGrids() (all []grid) {
	for _, group := range g.Group {
		all = append(all, group.Grids...)
	}
	return all
}

// Only returns data with which the template "grids" shows only the given grids. The template takes its grids from
// AllGrids, which is here an entry of a map.
func (g *glance) Only(grids []grid) map[string][]grid { return map[string][]grid{"AllGrids": grids} }
