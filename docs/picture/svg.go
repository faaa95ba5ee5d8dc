package main

import (
	"fmt"
	"slices"
	"strings"
)

const (
	margin = 14
	box    = 26 // height of a box
	step   = 72 // from row to row
	legend = 40 // height of the legend
)

// svg draws a layout, the last row at the top, with a legend of the rooms above it.
func svg(l *layout) string {
	width := 0.0
	for _, row := range l.rows {
		last := row[len(row)-1]
		width = max(width, last.x+last.width/2)
	}
	height := legend + (len(l.rows)-1)*step + box
	place := map[*node]int{}
	for r, row := range l.rows {
		for _, n := range row {
			place[n] = legend + (len(l.rows)-1-r)*step
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="%d %d %.0f %d" font-family="Helvetica, Arial, `+
		`sans-serif" font-size="13" role="img" aria-label="Packages of revgnn and their imports">`+"\n",
		-margin, -margin, width+2*margin, height+2*margin)
	fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.0f" height="%d" fill="#ffffff"/>`+"\n", -margin, -margin,
		width+2*margin, height+2*margin)
	b.WriteString(`<marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" ` +
		`orient="auto"><path d="M0,0.5 L8,4 L0,7.5 z" fill="#777777"/></marker>` + "\n")
	x := 0.0
	for _, room := range rooms {
		fmt.Fprintf(&b, `<rect x="%.1f" y="0" width="14" height="14" fill="%s" stroke="#777777"/><text x="%.1f" y="12" `+
			`fill="#222222">%s</text>`+"\n", x, room.colour, x+20, room.name)
		x += 20 + letter*float64(len(room.name)) + 24
	}
	for _, way := range l.arrows {
		fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="#777777" marker-end="url(#head)"/>`+"\n", curve(way, place))
	}
	for _, row := range slices.Backward(l.rows) {
		for _, n := range row {
			if n.name != "" {
				fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" rx="4" fill="%s" stroke="#777777"/>`+
					`<text x="%.1f" y="%d" text-anchor="middle" fill="#222222">%s</text>`+"\n", n.x-n.width/2, place[n],
					n.width, box, colour(n.name), n.x, place[n]+18, label(n.name))
			}
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// curve is an arrow's path: from the bottom of its package, vertically at each row that it passes, to the top of the
// package that is imported.
func curve(way []*node, place map[*node]int) string {
	var b strings.Builder
	x, y := way[0].x, place[way[0]]+box
	fmt.Fprintf(&b, "M%.1f,%d", x, y)
	for i, n := range way[1:] {
		top := place[n]
		fmt.Fprintf(&b, " C%.1f,%d %.1f,%d %.1f,%d", x, y+20, n.x, top-20, n.x, top)
		x, y = n.x, top
		if i < len(way)-2 {
			y += box
			fmt.Fprintf(&b, " V%d", y)
		}
	}
	return b.String()
}

// colour is that of a package's room.
func colour(name string) string {
	for _, room := range rooms {
		if slices.Contains(room.packages, name) {
			return room.colour
		}
	}
	return "#ffffff"
}
