package raster

import (
	"fmt"
	"image"
	"math"
	"regexp"
	"strconv"

	"github.com/srwiley/rasterx"
	"golang.org/x/image/math/fixed"
)

// path is a list of segments: M begins a part, L is a line, C a cubic curve, Z a line back to the part's start.
type path []segment

type segment struct {
	kind   byte // M, L, C or Z
	points []point
}

type point struct{ x, y float64 }

func (p *path) add(kind byte, points ...point) { *p = append(*p, segment{kind, points}) }

func (p path) transformed(m rasterx.Matrix2D) path {
	moved := make(path, len(p))
	for i, s := range p {
		moved[i].kind = s.kind
		for _, at := range s.points {
			x, y := m.Transform(at.x, at.y)
			moved[i].points = append(moved[i].points, point{x, y})
		}
	}
	return moved
}

func fix(v float64) fixed.Int26_6 { return fixed.Int26_6(math.Round(v * 64)) }

// addTo sends the path to fill, which closes every part, or to stroke, which closes those that end with Z.
func (p path) addTo(a rasterx.Adder, fill bool) {
	open := false
	at := func(q point) fixed.Point26_6 { return fixed.Point26_6{X: fix(q.x), Y: fix(q.y)} }
	for _, s := range p {
		switch s.kind {
		case 'M':
			if open {
				a.Stop(fill)
			}
			a.Start(at(s.points[0]))
			open = true
		case 'L':
			a.Line(at(s.points[0]))
		case 'C':
			a.CubeBezier(at(s.points[0]), at(s.points[1]), at(s.points[2]))
		case 'Z':
			a.Stop(true)
			open = false
		}
	}
	if open {
		a.Stop(fill)
	}
}

type bounds struct {
	any                    bool
	left, top, right, down float64
}

func (b *bounds) add(p path) {
	for _, s := range p {
		for _, q := range s.points {
			if !b.any {
				*b = bounds{true, q.x, q.y, q.x, q.y}
			}
			b.left, b.right = min(b.left, q.x), max(b.right, q.x)
			b.top, b.down = min(b.top, q.y), max(b.down, q.y)
		}
	}
}

func (b *bounds) pixels() image.Rectangle {
	return image.Rect(int(math.Floor(b.left)), int(math.Floor(b.top)), int(math.Ceil(b.right)), int(math.Ceil(b.down)))
}

// outline returns the outline of an element that is a rectangle, a polygon, a polyline (a polygon that is not closed)
// or a path.
func (e *element) outline() (path, error) {
	switch e.XMLName.Local {
	case "rect":
		x, y := e.number("x", 0), e.number("y", 0)
		return parsePath(fmt.Sprintf("M%g %gH%gV%gH%gZ", x, y, x+e.number("width", 0), y+e.number("height", 0), x))
	case "polygon":
		return parsePath("M" + e.attributes["points"] + "Z")
	case "polyline":
		return parsePath("M" + e.attributes["points"])
	case "path":
		return parsePath(e.attributes["d"])
	}
	return nil, fmt.Errorf("this element is not among those that ECharts is known to write")
}

// arguments has the number of arguments of each path command. A path command of SVG is a letter with numbers as its
// arguments. For example, "L 10 20" draws a line to the point (10, 20).
var arguments = map[byte]int{'M': 2, 'L': 2, 'H': 1, 'V': 1, 'C': 6, 'Q': 4, 'A': 7, 'Z': 0}

// pathToken matches a letter, a number, or else a character that does not belong into a path.
var pathToken = regexp.MustCompile(`[A-Za-z]|[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[^\s,]`)

func parsePath(d string) (path, error) {
	var p pen
	command, repeated := byte(0), false
	for tokens := pathToken.FindAllString(d, -1); len(tokens) > 0; repeated = true {
		if c := tokens[0][0] &^ 0x20; c >= 'A' && c <= 'Z' {
			command, repeated, tokens = tokens[0][0], false, tokens[1:]
		}
		n, ok := arguments[command&^0x20]
		if !ok || repeated && n == 0 {
			return nil, fmt.Errorf("the path %.40q... has an unknown command", d)
		}
		if len(tokens) < n {
			return nil, fmt.Errorf("the path %.40q... lacks numbers", d)
		}
		v := make([]float64, n)
		for k := range v {
			var err error
			if v[k], err = strconv.ParseFloat(tokens[k], 64); err != nil {
				return nil, fmt.Errorf("the path %.40q... lacks numbers", d)
			}
		}
		p.draw(command, repeated, v)
		tokens = tokens[n:]
	}
	return p.drawn, nil
}

// pen makes a path from SVG's commands; at is the position, start that of the current part.
type pen struct {
	drawn     path
	at, start point
}

// draw executes a path command of SVG: a letter with the numbers v as its arguments. If the letter is lower-case, the
// coordinates are relative to the current position. One letter may be followed by several lists of arguments. draw is
// then called for each list, and repeated is true for all lists but the first. The command M moves to a point, but
// draws a line to this point if repeated is true.
func (p *pen) draw(command byte, repeated bool, v []float64) {
	upper := command &^ 0x20
	base := point{}
	if command != upper {
		base = p.at
	}
	to := func(k int) point { return point{base.x + v[k], base.y + v[k+1]} }
	from := p.at
	switch upper {
	case 'M', 'L':
		p.at = to(0)
		if upper == 'L' || repeated {
			p.drawn.add('L', p.at)
		} else {
			p.start = p.at
			p.drawn.add('M', p.at)
		}
	case 'H':
		p.at.x = base.x + v[0]
		p.drawn.add('L', p.at)
	case 'V':
		p.at.y = base.y + v[0]
		p.drawn.add('L', p.at)
	case 'C':
		p.at = to(4)
		p.drawn.add('C', to(0), to(2), p.at)
	case 'Q':
		p.at = to(2)
		p.drawn.quadratic(from, to(0), p.at)
	case 'A':
		p.at = to(5)
		p.drawn.arc(from, v[0], v[1], v[2], v[3] != 0, v[4] != 0, p.at)
	case 'Z':
		p.at = p.start
		p.drawn.add('Z')
	}
}

func (p *path) quadratic(from, control, to point) {
	third := func(a, b point) point { return point{a.x + 2*(b.x-a.x)/3, a.y + 2*(b.y-a.y)/3} }
	p.add('C', third(from, control), third(to, control), to)
}

// arc adds an elliptical arc to the path, as a list of cubic curves. Each curve covers at most a quarter of a full
// turn. SVG gives the two endpoints and the radii of an arc, but not its centre. The centre is computed as in appendix
// F.6.5 of SVG 1.1.
func (p *path) arc(from point, rx, ry, degrees float64, large, sweep bool, to point) {
	rx, ry = math.Abs(rx), math.Abs(ry)
	if rx == 0 || ry == 0 || from == to {
		p.add('L', to)
		return
	}
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	dx, dy := (from.x-to.x)/2, (from.y-to.y)/2
	x, y := cos*dx+sin*dy, cos*dy-sin*dx
	if grow := x*x/(rx*rx) + y*y/(ry*ry); grow > 1 {
		rx, ry = rx*math.Sqrt(grow), ry*math.Sqrt(grow)
	}
	rest := rx*rx*y*y + ry*ry*x*x
	factor := math.Sqrt(max(0, rx*rx*ry*ry-rest) / rest)
	if large == sweep {
		factor = -factor
	}
	cx, cy := factor*rx*y/ry, -factor*ry*x/rx
	begin := math.Atan2((y-cy)/ry, (x-cx)/rx)
	turn := math.Atan2((-y-cy)/ry, (-x-cx)/rx) - begin
	if sweep && turn < 0 {
		turn += 2 * math.Pi
	} else if !sweep && turn > 0 {
		turn -= 2 * math.Pi
	}
	centre := point{cos*cx - sin*cy + (from.x+to.x)/2, sin*cx + cos*cy + (from.y+to.y)/2}
	place := func(u, v float64) point { // maps the unit circle to the ellipse
		return point{centre.x + cos*rx*u - sin*ry*v, centre.y + sin*rx*u + cos*ry*v}
	}
	steps := int(math.Ceil(math.Abs(turn) / (math.Pi / 2) * 0.999))
	for i := range max(1, steps) {
		each := turn / float64(max(1, steps))
		a := begin + float64(i)*each
		k := 4.0 / 3 * math.Tan(each/4)
		s1, c1 := math.Sincos(a)
		s2, c2 := math.Sincos(a + each)
		p.add('C', place(c1-k*s1, s1+k*c1), place(c2+k*s2, s2-k*c2), place(c2, s2))
	}
}
