package paper

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/models"
)

// Performance is a published table of test results: table 2, 3 or 6.
type Performance struct {
	Table   int      `json:"table"`
	Title   string   `json:"title"`
	Metric  string   `json:"metric"`
	Columns []string `json:"columns"` // the names of the datasets
	// Groups are the headings above groups of rows.
	Groups []string         `json:"groups"`
	Rows   []PerformanceRow `json:"rows"`
}

// PerformanceRow is the row of one model in a table of test results, with a cell for each dataset.
type PerformanceRow struct {
	Name  string `json:"name"`
	Model string `json:"model"`
	// Group is an index into Performance.Groups.
	Group int `json:"group"`
	// From is the publication from which the paper took the row. It is empty for the paper's own runs.
	From string `json:"from,omitempty"`
	// Balanced is true if the results of this row were published for class-balanced splits, which have equally many
	// training nodes of each class (see [data.Balanced]). If Balanced is false, the results are for the paper's random
	// splits.
	Balanced bool `json:"balanced,omitempty"`
	// Interval is true if each number after ± in this row is half the width of a 95 % confidence interval of the mean
	// of ten runs. If Interval is false, these numbers are standard deviations.
	Interval bool `json:"interval,omitempty"`
	Cells    []struct {
		Mean float64 `json:"mean"`
		Std  float64 `json:"std"`
		From string  `json:"from,omitempty"`
	} `json:"cells"`
	// Layers has two numbers for each dataset: the number of forward layers (L_F in the paper) and the number of
	// reverse layers (L_R). Delta has the published gain for each dataset. A field is nil if the paper does not give
	// its numbers.
	Layers [][2]int  `json:"layers,omitempty"`
	Delta  []float64 `json:"delta,omitempty"`

	beyond bool // the paper does not have this row: it has no published cells (see [View.addBeyond])
}

// std returns the published standard deviation over runs for the cell in column k. In some rows, the number after ± is
// not the standard deviation s, but half the width of a 95 % confidence interval of the mean. For n runs, this half
// width is 1.96 s / sqrt(n). For these rows, std computes s from the half width.
func (r PerformanceRow) std(k int) float64 {
	const runs = 10
	if r.Interval {
		return r.Cells[k].Std * math.Sqrt(runs) / 1.96
	}
	return r.Cells[k].Std
}

// column returns the index of the column of a dataset, or -1 if the table does not have the dataset.
func (p *Performance) column(dataset string) int {
	for i, c := range p.Columns {
		if c == dataset {
			return i
		}
	}
	return -1
}

// plain returns the row of the plain backbone of the model in row r. It returns nil if this model has no reverse
// process, or if the table has no row of the backbone.
func (p *Performance) plain(r PerformanceRow) *PerformanceRow {
	k, err := models.Lookup(r.Model)
	if err != nil || k.Plain == "" {
		return nil
	}
	return p.row(k.Plain)
}

// row returns the row of a model, or nil if the table has no such row.
func (p *Performance) row(model string) *PerformanceRow {
	for i := range p.Rows {
		if p.Rows[i].Model == model {
			return &p.Rows[i]
		}
	}
	return nil
}

// Complexities is the paper's table 1. It has formulas for the time and the memory of the forward process and of the
// reverse process. Exponents has an entry for each of several quantities in these formulas, such as the number of
// forward layers. In an entry, Time is the highest power of the quantity in the formulas for time, and Memory is its
// highest power in the formulas for memory.
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

// InversionErrors is the paper's table 4. For this table, layers are applied to an input. Then the inverses of these
// layers are applied, which should restore the input. The errors are the mean absolute differences between the inputs
// and the restored inputs.
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

// DatasetStatistics is table 5: the statistics of each dataset, such as its numbers of nodes and edges.
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

// Statement is what the paper says about one of its figures. (The paper does not publish the numbers in its figures.)
type Statement struct {
	Figure int    `json:"figure"`
	Short  string `json:"short"`
	Title  string `json:"title"`
	Says   string `json:"says"`
	// ReverseLimit is for figure 2. On some datasets, the authors of the paper ran out of memory with many reverse
	// layers. For each of these datasets, ReverseLimit has the largest number of reverse layers that they could run.
	ReverseLimit map[string]int `json:"reverse_limit"`
}

// published reads the JSON file with the given name in the folder data/paper (see [data.Paper]), and returns its
// content as a value of the type T. The file has numbers from a table of the paper, or what the paper says about its
// figures.
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

// statement returns what the paper says about a figure.
func statement(figure int) Statement {
	return published[struct{ Figures []Statement }]("figures").Figures[figure-1]
}
