package main

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A node is a package, or a place where an arrow passes a row of packages on its way further down.
type node struct {
	name  string // empty where an arrow passes
	width float64
	x     float64 // of its middle
	above []*node
	below []*node
}

// A layout is the picture before it is drawn: rows from the bottom to the top, each from left to right.
type layout struct {
	rows   [][]*node
	arrows [][]*node // each from its package through the rows that it passes
}

const (
	letter  = 7.3 // width of a letter
	padding = 22  // of a box, beside its text
	apart   = 16  // between two boxes
)

// arrange places the packages (Sugiyama, Tagawa and Toda, IEEE Transactions on Systems, Man, and Cybernetics 1981): a
// package stands one row above the highest one that it imports; rows are ordered so that few arrows cross; and then
// each package is moved towards the middle of its neighbours.
func arrange(imports map[string][]string) *layout {
	l, row, nodes := &layout{}, map[string]int{}, map[string]*node{}
	var rank func(name string) int
	rank = func(name string) int {
		r, ok := row[name]
		if !ok {
			for _, to := range imports[name] {
				r = max(r, rank(to)+1)
			}
			row[name] = r
		}
		return r
	}
	add := func(n *node, r int) *node {
		for len(l.rows) <= r {
			l.rows = append(l.rows, nil)
		}
		l.rows[r] = append(l.rows[r], n)
		return n
	}
	for _, name := range sorted(imports) {
		width := letter*float64(len(label(name))) + padding
		nodes[name] = add(&node{name: name, width: width}, rank(name))
	}
	for _, name := range sorted(imports) {
		for _, to := range imports[name] {
			way := []*node{nodes[name]}
			for r := row[name] - 1; r > row[to]; r-- {
				way = append(way, add(&node{}, r))
			}
			way = append(way, nodes[to])
			for i, below := range way[1:] {
				way[i].below, below.above = append(way[i].below, below), append(below.above, way[i])
			}
			l.arrows = append(l.arrows, way)
		}
	}
	l.order()
	l.place()
	return l
}

// label is what a box says.
func label(name string) string { return strings.TrimPrefix(name, "pkg/") }

// order puts each row in the order of the means of its neighbours' places, by turns from above and from below, and
// keeps the order with the fewest crossings.
func (l *layout) order() {
	best, fewest := l.copy(), l.crossings()
	for sweep := range 60 {
		for i := range l.rows {
			r, neighbours := i, func(n *node) []*node { return n.below }
			if sweep%2 == 0 {
				r, neighbours = len(l.rows)-1-i, func(n *node) []*node { return n.above }
			}
			l.number()
			slices.SortStableFunc(l.rows[r], func(a, b *node) int {
				return cmp.Compare(mean(neighbours(a), a.x), mean(neighbours(b), b.x))
			})
		}
		if n := l.crossings(); n < fewest {
			best, fewest = l.copy(), n
		}
	}
	l.rows = best
}

// number gives each node its place in its row for x, as a part of the row.
func (l *layout) number() {
	for _, row := range l.rows {
		for i, n := range row {
			n.x = (float64(i) + 0.5) / float64(len(row))
		}
	}
}

func (l *layout) copy() (rows [][]*node) {
	for _, row := range l.rows {
		rows = append(rows, slices.Clone(row))
	}
	return rows
}

// mean is that of the nodes' x; without nodes it is what is given.
func mean(nodes []*node, otherwise float64) float64 {
	if len(nodes) == 0 {
		return otherwise
	}
	sum := 0.0
	for _, n := range nodes {
		sum += n.x
	}
	return sum / float64(len(nodes))
}

// crossings counts the pairs of arrows that cross between two rows.
func (l *layout) crossings() (count int) {
	l.number()
	for _, row := range l.rows {
		for i, a := range row {
			for _, b := range row[i+1:] {
				for _, p := range a.below {
					for _, q := range b.below {
						if p.x > q.x {
							count++
						}
					}
				}
			}
		}
	}
	return count
}

// place moves all nodes, row by row, as near to the means of their neighbours as their order and widths allow.
func (l *layout) place() {
	for _, row := range l.rows {
		spread(row, make([]float64, len(row)))
	}
	for sweep := range 100 {
		for i := range l.rows {
			row := l.rows[i]
			if sweep%2 == 0 {
				row = l.rows[len(l.rows)-1-i]
			}
			wanted := make([]float64, len(row))
			for k, n := range row {
				wanted[k] = mean(slices.Concat(n.above, n.below), n.x)
			}
			spread(row, wanted)
		}
	}
	left := math.Inf(1)
	for _, row := range l.rows {
		left = min(left, row[0].x-row[0].width/2)
	}
	for _, row := range l.rows {
		for _, n := range row {
			n.x -= left
		}
	}
}

// spread gives a row the positions with the least sum of squared distances from those that are wanted, at which no two
// nodes are nearer to each other than their widths ask for. Less the least distances, the positions must not decrease:
// where those wanted do, neighbours are joined to blocks, which have the mean of what is wanted of them (the
// pool-adjacent-violators algorithm of isotonic regression).
func spread(row []*node, wanted []float64) {
	type block struct {
		sum   float64
		count int
	}
	var blocks []block
	offsets := make([]float64, len(row))
	for i := range row {
		if i > 0 {
			offsets[i] = offsets[i-1] + (row[i-1].width+row[i].width)/2 + apart
		}
		blocks = append(blocks, block{wanted[i] - offsets[i], 1})
		for n := len(blocks); n > 1; n = len(blocks) {
			a, b := blocks[n-2], blocks[n-1]
			if a.sum/float64(a.count) <= b.sum/float64(b.count) {
				break
			}
			blocks = append(blocks[:n-2], block{a.sum + b.sum, a.count + b.count})
		}
	}
	i := 0
	for _, b := range blocks {
		for range b.count {
			row[i].x = b.sum/float64(b.count) + offsets[i]
			i++
		}
	}
}
