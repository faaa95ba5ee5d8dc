package paper

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/models"
)

// Performance is a published table of test results: tables 2, 3 and 6.
type Performance struct {
	Table   int      `json:"table"`
	Title   string   `json:"title"`
	Metric  string   `json:"metric"`
	Columns []string `json:"columns"` // datasets
	// Groups head the rows that stand together in the paper.
	Groups []string         `json:"groups"`
	Rows   []PerformanceRow `json:"rows"`
}

// PerformanceRow is one model's, with a cell for each dataset.
type PerformanceRow struct {
	Name  string `json:"name"`
	Model string `json:"model"`
	// Group is a number of Performance.Groups, from 0.
	Group int `json:"group"`
	// From is where the paper took the row from; empty for its own runs.
	From string `json:"from,omitempty"`
	// Balanced tells that it was run on class-balanced splits ([data.Balanced]), other than the rest of the table.
	Balanced bool `json:"balanced,omitempty"`
	// Interval tells that its ± is half a 95 % confidence interval of the mean of ten runs, and no standard deviation.
	Interval bool `json:"interval,omitempty"`
	Cells    []struct {
		Mean float64 `json:"mean"`
		Std  float64 `json:"std"`
		From string  `json:"from,omitempty"`
	} `json:"cells"`
	// Layers are L_F and L_R, and Delta the paper's difference to the plain backbone, where it gives them.
	Layers [][2]int  `json:"layers,omitempty"`
	Delta  []float64 `json:"delta,omitempty"`
}

// std is the standard deviation of column k's cell over runs. Of the mean of n runs with the standard deviation s, half
// the 95 % confidence interval is 1.96 s / sqrt(n).
func (r PerformanceRow) std(k int) float64 {
	const runs = 10
	if r.Interval {
		return r.Cells[k].Std * math.Sqrt(runs) / 1.96
	}
	return r.Cells[k].Std
}

// column is the number of a dataset's column, or -1.
func (p *Performance) column(dataset string) int {
	for i, c := range p.Columns {
		if c == dataset {
			return i
		}
	}
	return -1
}

// plain is the row of the same model without reverse process, for a model that has one; nil where there is none.
func (p *Performance) plain(r PerformanceRow) *PerformanceRow {
	k, err := models.Lookup(r.Model)
	if err != nil || k.Plain == "" {
		return nil
	}
	return p.row(k.Plain)
}

// row is a model's row; nil where there is none.
func (p *Performance) row(model string) *PerformanceRow {
	for i := range p.Rows {
		if p.Rows[i].Model == model {
			return &p.Rows[i]
		}
	}
	return nil
}

// Complexities is table 1. Exponents are the highest powers of a quantity in its column of
// times and in that of memory.
type Complexities struct {
	Columns []string `json:"columns"`
	Rows    []struct {
		Name  string   `json:"name"`
		Cells []string `json:"cells"`
	} `json:"rows"`
	Exponents []struct {
		Quantity string  `json:"quantity"`
		Time     float64 `json:"time"`
		Memory   float64 `json:"memory"`
	} `json:"exponents"`
}

// InversionErrors is table 4.
type InversionErrors struct {
	Models        []string `json:"models"`
	Depth         int      `json:"depth"`
	Lipschitz     float64  `json:"lipschitz"`
	MaxIterations int      `json:"max_iterations"`
	Rows          []struct {
		Dataset string    `json:"dataset"`
		Errors  []float64 `json:"errors"`
	} `json:"rows"`
}

// DatasetStatistics is table 5.
type DatasetStatistics struct {
	Rows []GraphStatistics `json:"rows"`
}

// GraphStatistics are those of one dataset.
type GraphStatistics struct {
	Dataset           string  `json:"dataset"`
	Nodes             int     `json:"nodes"`
	Edges             int     `json:"edges"`
	Classes           int     `json:"classes"`
	AverageDegree     float64 `json:"average_degree"`
	EdgeHomophily     float64 `json:"edge_homophily"`
	AdjustedHomophily float64 `json:"adjusted_homophily"`
}

// Statement is what the paper says of one of its figures, which it publishes as pictures only.
type Statement struct {
	Figure int    `json:"figure"`
	Short  string `json:"short"`
	Title  string `json:"title"`
	Says   string `json:"says"`
	// ReverseLimit is the depth at which the paper had to stop, by dataset (figure 2).
	ReverseLimit map[string]int `json:"reverse_limit"`
}

// published reads what the paper published under a name; see [data.Paper]. The files are part of the programme.
func published[T any](name string) *T {
	b, err := data.Paper(name)
	var v T
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	if err != nil {
		panic(fmt.Errorf("data/paper/%s.json is damaged (%w): rebuild from a clean checkout", name, err))
	}
	return &v
}

// statement is what the paper says of a figure.
func statement(figure int) Statement {
	return published[struct{ Figures []Statement }]("figures").Figures[figure-1]
}
