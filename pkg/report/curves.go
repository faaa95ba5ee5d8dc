package report

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed curves.js
var curvesJS string

// Curves draws curves over one pair of axes, linear unless given. Names have their units, as in "time [s]". There are
// six colours: draw more curves as two figures.
func Curves(id, title, xName, yName string, series []Series, axes ...Axes) *Figure {
	p := Plot{XName: xName, YName: yName, Series: series}
	if len(axes) > 0 {
		p.Axes = axes[0]
	}
	return Plots(id, title, p)
}

// Plots draws one to three panels side by side. Curves of the same name look the same, and share one entry of the
// legend.
func Plots(id, title string, plots ...Plot) *Figure {
	c := &curves{title: title, plots: plots}
	f := &Figure{ID: id, Title: title, chart: c, err: c.check()}
	if f.err != nil {
		return f
	}
	var said []string
	for _, p := range plots {
		var names []string
		for _, s := range p.Series {
			names = append(names, s.Name)
		}
		text := fmt.Sprintf("Curves of %s over %s: %s", p.YName, p.XName, strings.Join(names, ", "))
		if p.Title != "" {
			text = p.Title + ": " + strings.ToLower(text[:1]) + text[1:]
		}
		said = append(said, text)
	}
	f.Alt = strings.Join(said, "; ") + "."
	f.Width = max(760, len(plots)*panelWidth, headWidth(title))
	c.width = f.Width
	c.layout()
	f.Height = c.top + panelHeight + 62
	return f
}

// These are sizes in CSS pixels.
const (
	panelWidth  = 480 // width of a panel with its axis, if there are several panels
	panelHeight = 246 // height of the area in which the curves are drawn
	axisWidth   = 78  // width of the space to the left of a panel, for its axis
	legendRow   = 24
	legendIcon  = 36
)

type curves struct {
	title string
	plots []Plot

	width, top int
	looks      []look // how to draw the curves; one entry for each name, in the order of the legend
}

// look is how curves of a name are drawn; stroke is an index into strokes.
type look struct {
	name   string
	style  Style
	stroke int
}

func (c *curves) check() error {
	if len(c.plots) < 1 || len(c.plots) > 3 {
		return fmt.Errorf("%d panels can't be drawn side by side: give one to three", len(c.plots))
	}
	for _, p := range c.plots {
		if err := p.check(); err != nil {
			return err
		}
	}
	for _, p := range c.plots {
		for _, s := range p.Series {
			if s.Like != "" && !slices.ContainsFunc(p.Series, func(o Series) bool {
				return o.Name == s.Like && o.Like == ""
			}) {
				return fmt.Errorf("curve %q is to look like %q, "+
					"which is no other curve of its panel with a look of its own", s.Name, s.Like)
			}
		}
	}
	return nil
}

// layout decides how curves look, and makes space for the legend above the panels.
func (c *curves) layout() {
	strokes := map[string]int{}
	for _, p := range c.plots {
		for _, s := range p.Series {
			if _, ok := strokes[s.Name]; !ok && s.Like == "" {
				strokes[s.Name] = len(strokes)
			}
		}
	}
	for _, p := range c.plots {
		for _, s := range p.Series {
			if !slices.ContainsFunc(c.looks, func(l look) bool { return l.name == s.Name }) {
				own := s.Name
				if s.Like != "" {
					own = s.Like
				}
				c.looks = append(c.looks, look{s.Name, s.Style, strokes[own]})
			}
		}
	}
	c.top = 48
	if len(c.looks) > 1 {
		c.top += legendRow * c.legendRows()
	}
	if slices.ContainsFunc(c.plots, func(p Plot) bool { return p.Title != "" }) {
		c.top += 24
	}
}

// legendRows follows ECharts, which begins a new row when the next name does not fit.
func (c *curves) legendRows() int {
	rows, x := 1, 0.0
	room := float64(c.width - 24)
	for _, l := range c.looks {
		item := legendIcon + 5 + textWidth(l.name, 13)
		if x > 0 && x+item > room {
			rows, x = rows+1, 0
		}
		x += item + 10
	}
	return rows
}

// left is the left edge and the width of panel i's area.
func (c *curves) left(i int) (left, width int) {
	share := c.width / len(c.plots)
	return i*share + axisWidth, share - axisWidth - 28
}

func (c *curves) compact() (map[string]any, string) { return c.option(), strings.TrimSpace(curvesJS) }

func (c *curves) static() (map[string]any, string, error) {
	return c.option(), strings.TrimSpace(curvesJS), nil
}
