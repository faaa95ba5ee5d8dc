package nb

import (
	"fmt"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/report"
)

// Statistics returns a table with the statistics of a graph ([metrics.GraphStats]).
func Statistics(id, title string, g *graphs.Graph) *report.Table {
	s := metrics.GraphStats(g)
	return &report.Table{ID: id, Title: title, Corner: "Nodes",
		Columns: []report.Column{{Name: "edges"}, {Name: "classes"}, {Name: "features"}, {Name: "average degree"},
			{Name: "edge homophily"}, {Name: "adjusted homophily"}, {Name: "splits"}},
		Rows: []report.Row{{Label: fmt.Sprint(s.Nodes), Cells: []report.Cell{
			report.Count(s.Edges), report.Count(s.Classes), report.Count(s.Features), report.Number(s.AverageDegree, 2),
			report.Number(s.EdgeHomophily, 2), report.Number(s.AdjustedHomophily, 2), report.Count(s.Splits)}}}}
}

func Degrees(id, title string, g *graphs.Graph) *report.Figure {
	nodes := map[int]int{}
	most := 0
	for _, degree := range g.Degrees() {
		nodes[degree]++
		most = max(most, degree)
	}
	s := report.Series{Name: "nodes", Style: report.Marked}
	for degree := range most + 1 {
		if n := nodes[degree]; n > 0 {
			s.X, s.Y = append(s.X, float64(degree)), append(s.Y, float64(n))
		}
	}
	return report.Curves(id, title, "degree", "nodes", []report.Series{s})
}
