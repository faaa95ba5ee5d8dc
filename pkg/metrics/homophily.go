package metrics

import (
	"encoding/json"
	"math"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// EdgeHomophily is the share of the edges whose nodes both have labels that join equal ones (Abu-El-Haija et al., 2019;
// Zhu et al., 2020), or NaN without such edges:
//
//	h_edge = |{(u,v) in E: y_u = y_v}| / |E|
func EdgeHomophily(g *graphs.Graph) float64 {
	same, all := 0, 0
	for _, e := range g.Edges {
		if !known(g, e) {
			continue
		}
		all++
		if g.Labels[e[0]] == g.Labels[e[1]] {
			same++
		}
	}
	return float64(same) / float64(all)
}

// known tells whether both nodes of an edge have labels.
func known(g *graphs.Graph, e graphs.Edge) bool {
	return g.Labels[e[0]] != graphs.Unlabelled && g.Labels[e[1]] != graphs.Unlabelled
}

// AdjustedHomophily is edge homophily corrected for chance (Platonov et al., 2023),
//
//	h_adj = (h_edge - Σ_k D_k²/(2|E|)²) / (1 - Σ_k D_k²/(2|E|)²),
//
// with the sum D_k of the degrees of class k; only edges whose nodes both have labels count. The sum is what edges
// drawn at random, with the same degrees, would have. It is NaN without edges, or if all join nodes of one class.
func AdjustedHomophily(g *graphs.Graph) float64 {
	degrees, all := make([]float64, g.NumClasses), 0
	for _, e := range g.Edges {
		if known(g, e) {
			all++
			degrees[g.Labels[e[0]]]++
			degrees[g.Labels[e[1]]]++
		}
	}
	chance := 0.0
	for _, d := range degrees {
		share := d / (2 * float64(all))
		chance += share * share
	}
	if chance >= 1 {
		return math.NaN()
	}
	return (EdgeHomophily(g) - chance) / (1 - chance)
}

// Stats are the properties of a graph that the paper's table of datasets lists.
type Stats struct {
	Name          string  `json:"name"`
	Nodes         int     `json:"nodes"`
	Edges         int     `json:"edges"`                    // edges without their directions
	DirectedEdges int     `json:"directed_edges,omitempty"` // edges with their directions; 0 if they have none
	Classes       int     `json:"classes"`
	Features      int     `json:"features"`
	AverageDegree float64 `json:"average_degree"` // 2 edges / nodes
	// These are NaN, in JSON null, if they are undefined.
	EdgeHomophily     float64 `json:"edge_homophily"`
	AdjustedHomophily float64 `json:"adjusted_homophily"`
	Splits            int     `json:"splits"`
	Unlabelled        int     `json:"unlabelled,omitempty"` // the number of nodes without a label
	Weighted          bool    `json:"weighted,omitempty"`   // edges have weights, which homophily does not count
	// Shares and Columns are not in run records, and [GraphStats] leaves them out.
	Shares  []Share          `json:"class_shares,omitempty"`
	Columns []graphs.Summary `json:"feature_columns,omitempty"`
}

// Share is that of a class among the labelled nodes.
type Share struct {
	Class string  `json:"class"`
	Nodes int     `json:"nodes"`
	Share float64 `json:"share"`
}

// ClassShares are those of all classes, in their order.
func ClassShares(g *graphs.Graph) []Share {
	out := make([]Share, g.NumClasses)
	for c, name := range g.Classes() {
		out[c].Class = name
	}
	for _, label := range g.Labels {
		if label != graphs.Unlabelled {
			out[label].Nodes++
		}
	}
	labelled := float64(max(1, g.Labelled()))
	for c := range out {
		out[c].Share = float64(out[c].Nodes) / labelled
	}
	return out
}

// GraphStats are those of a valid graph.
func GraphStats(g *graphs.Graph) Stats {
	s := Stats{Name: g.Name, Nodes: g.NumNodes, Edges: len(g.Edges), DirectedEdges: len(g.Arcs),
		Classes: g.NumClasses, Features: g.NumFeatures + len(g.Columns), EdgeHomophily: EdgeHomophily(g),
		AdjustedHomophily: AdjustedHomophily(g), Splits: len(g.Splits),
		Unlabelled: g.NumNodes - g.Labelled(), Weighted: g.Weighted()}
	if g.NumNodes > 0 {
		s.AverageDegree = 2 * float64(len(g.Edges)) / float64(g.NumNodes)
	}
	return s
}

// MarshalJSON writes undefined values as null, since JSON has no NaN.
func (s Stats) MarshalJSON() ([]byte, error) {
	type plain Stats // has no method MarshalJSON: otherwise this method would call itself
	defined := func(v float64) *float64 {
		if math.IsNaN(v) {
			return nil
		}
		return &v
	}
	return json.Marshal(struct {
		plain
		EdgeHomophily     *float64 `json:"edge_homophily"`
		AdjustedHomophily *float64 `json:"adjusted_homophily"`
	}{plain(s), defined(s.EdgeHomophily), defined(s.AdjustedHomophily)})
}
