package datasets

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/revgnn/revgnn/pkg/files"
)

// WriteClub writes an example of a user's graph, nodes.csv and edges.csv, always the same: a club of 900 people in
// three groups (the labels), most edges between groups, and eight traits each (the features): normal with standard
// deviation 1 and mean 0, but 0.7 for two or three traits of each group. Without a column split, [Load] draws splits.
func WriteClub(dir string) (paths []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	const groups, members = 3, 300
	rng := rand.New(rand.NewPCG(7, 7))
	var nodes, edges strings.Builder
	nodes.WriteString("id,label,t1,t2,t3,t4,t5,t6,t7,t8\n")
	edges.WriteString("from,to\n")
	for i := range groups * members {
		group := i % groups
		fmt.Fprintf(&nodes, "p%d,%s", i, [groups]string{"red", "green", "blue"}[group])
		for trait := range 8 {
			value := rng.NormFloat64()
			if trait%groups == group {
				value += 0.7
			}
			fmt.Fprintf(&nodes, ",%.3f", value)
		}
		nodes.WriteString("\n")
		for range 2 + rng.IntN(5) {
			other := group + 1 // one edge in five leads to a random group instead
			if rng.Float64() < 0.2 {
				other = rng.IntN(groups)
			}
			fmt.Fprintf(&edges, "p%d,p%d\n", i, other%groups+groups*rng.IntN(members))
		}
	}
	for _, f := range []struct{ name, text string }{{"nodes.csv", nodes.String()}, {"edges.csv", edges.String()}} {
		path := filepath.Join(dir, f.name)
		if err := files.WriteText(path, f.text); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}
