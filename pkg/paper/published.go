package paper

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/models"
)

// Performance is a published table of test results: table 2, 3 or 6.
type Performance struct {
	Table   int              `json:"table"`
	Title   string           `json:"title"`
	Metric  string           `json:"metric"`
	Columns []string         `json:"columns"` // datasets
	Groups  []string         `json:"groups"`
	Rows    []PerformanceRow `json:"rows"`
}

// PerformanceRow is the row of a model, with a cell for each dataset.
type PerformanceRow struct {
	Name  string `json:"name"`
	Model string `json:"model"`
	Group int    `json:"group"`
	// From is the publication that the paper took the row from; "" for the paper's own runs.
	From string `json:"from,omitempty"`
	// Balanced rows were published for splits with equally many training nodes of each class ([data.Balanced]).
	Balanced bool `json:"balanced,omitempty"`
	// Interval rows have, after ±, half a 95 % confidence interval of the mean of ten runs, not a standard deviation.
	Interval bool `json:"interval,omitempty"`
	Cells    []struct {
		Mean float64 `json:"mean"`
		Std  float64 `json:"std"`
		From string  `json:"from,omitempty"`
	} `json:"cells"`
	// Layers are L_F and L_R on each dataset, Delta the published gains; nil if not published.
	Layers [][2]int  `json:"layers,omitempty"`
	Delta  []float64 `json:"delta,omitempty"`

	beyond bool // the paper does not have this row, nor its cells ([View.addBeyond])
}

// std is the published standard deviation s in column k. For [PerformanceRow.Interval] rows it follows from the half
// width 1.96 s/√n of n = 10 runs.
func (r PerformanceRow) std(k int) float64 {
	const runs = 10
	if r.Interval {
		return r.Cells[k].Std * math.Sqrt(runs) / 1.96
	}
	return r.Cells[k].Std
}

// plain is the row of the plain backbone of the model in row r, or nil.
func (p *Performance) plain(r PerformanceRow) *PerformanceRow {
	k, err := models.Lookup(r.Model)
	if err != nil || k.Plain == "" {
		return nil
	}
	return p.row(k.Plain)
}

func (p *Performance) row(model string) *PerformanceRow {
	for i := range p.Rows {
		if p.Rows[i].Model == model {
			return &p.Rows[i]
		}
	}
	return nil
}

// Complexities is table 1: formulas of time and memory of both processes, and the highest power of each quantity in
// them.
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

// InversionErrors is table 4: mean absolute differences between inputs and what inverting the layers restores.
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
	Rows []struct {
		Dataset string `json:"dataset"`
		metrics.Stats
	} `json:"rows"`
}

// Statement is what the paper says about a figure, whose numbers it does not publish.
type Statement struct {
	Figure int    `json:"figure"`
	Short  string `json:"short"`
	Title  string `json:"title"`
	Says   string `json:"says"`
	// ReverseLimit, of figure 2, is the largest number of reverse layers that the authors had memory for.
	ReverseLimit map[string]int `json:"reverse_limit"`
}

// published reads a file of data/paper.
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

func statement(figure int) Statement {
	return published[struct{ Figures []Statement }]("figures").Figures[figure-1]
}
