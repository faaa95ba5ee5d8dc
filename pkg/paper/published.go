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
	// Groups are the headings of groups of rows.
	Groups []string         `json:"groups"`
	Rows   []PerformanceRow `json:"rows"`
}

// PerformanceRow is the row of one model, with a cell for each dataset.
type PerformanceRow struct {
	Name  string `json:"name"`
	Model string `json:"model"`
	// Group is an index into Performance.Groups.
	Group int `json:"group"`
	// From is the source from which the paper took the row; empty for the paper's own runs.
	From string `json:"from,omitempty"`
	// Balanced tells that the row was published for class-balanced splits ([data.Balanced]), unlike the rest of the
	// table.
	Balanced bool `json:"balanced,omitempty"`
	// Interval tells that the row's ± is half a 95 % confidence interval of the mean of ten runs, not a standard
	// deviation.
	Interval bool `json:"interval,omitempty"`
	Cells    []struct {
		Mean float64 `json:"mean"`
		Std  float64 `json:"std"`
		From string  `json:"from,omitempty"`
	} `json:"cells"`
	// Layers has L_F and L_R, and Delta the published difference to the plain backbone; both nil if the paper does not
	// give them.
	Layers [][2]int  `json:"layers,omitempty"`
	Delta  []float64 `json:"delta,omitempty"`
}

// std is the standard deviation over runs of the cell in column k. It follows from half a 95 % confidence interval of
// the mean, which is 1.96 s / sqrt(n) for n runs with standard deviation s.
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

// plain is the row of the same model without reverse process, for a row whose model has a reverse process; nil if there
// is none.
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

// Complexities is table 1. Exponents has, for each quantity, its highest power in the formulas for time, and in those
// for memory.
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

// GraphStatistics are the statistics of one dataset.
type GraphStatistics struct {
	Dataset           string  `json:"dataset"`
	Nodes             int     `json:"nodes"`
	Edges             int     `json:"edges"`
	Classes           int     `json:"classes"`
	AverageDegree     float64 `json:"average_degree"`
	EdgeHomophily     float64 `json:"edge_homophily"`
	AdjustedHomophily float64 `json:"adjusted_homophily"`
}

// Statement is what the paper says about one of its figures. The numbers in the figures are not published.
type Statement struct {
	Figure int    `json:"figure"`
	Short  string `json:"short"`
	Title  string `json:"title"`
	Says   string `json:"says"`
	// ReverseLimit is, by dataset, the largest number of reverse layers that the paper could run (figure 2).
	ReverseLimit map[string]int `json:"reverse_limit"`
}

// published reads a file with published numbers, or with statements about figures, from data/paper; see [data.Paper].
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

// statement is what the paper says about a figure.
func statement(figure int) Statement {
	return published[struct{ Figures []Statement }]("figures").Figures[figure-1]
}
