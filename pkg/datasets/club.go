package datasets

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/files"
)

// WriteClub writes an example of a user's graph, nodes.csv and edges.csv, always the same: a club of 900 people in three
// groups of 500, 300 and 100 (the labels, of which 90 are not known), most edges between groups, with the number of
// meetings as the weight. Features are the town (a text, one in 25 missing), whether somebody pays (yes or no), when
// they joined (in Unix seconds), and eight traits: normal with standard deviation 1 and mean 0, but 0.4 for two or three
// traits of each group. Without a column split, [Load] draws splits.
func WriteClub(dir string) (paths []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(7, 7))
	var members []int // the group of each person
	for group, size := range []int{500, 300, 100} {
		members = append(members, slices.Repeat([]int{group}, size)...)
	}
	rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	of := [3][]int{}
	for i, group := range members {
		of[group] = append(of[group], i)
	}
	towns := []string{"Aachen", "Bern", "Cork", "Dijon", "Évora", "Faro"}
	met := map[[2]int]bool{}
	var nodes, edges strings.Builder
	nodes.WriteString("id,label,town,pays,joined,t1,t2,t3,t4,t5,t6,t7,t8\n")
	edges.WriteString("source,target,weight\n")
	for i, group := range members {
		label, town := [3]string{"red", "green", "blue"}[group], towns[(rng.IntN(4)+group)%len(towns)]
		if rng.IntN(10) == 0 {
			label = ""
		}
		if rng.IntN(25) == 0 {
			town = ""
		}
		fmt.Fprintf(&nodes, "p%d,%s,%s,%s,%d", i, label, town, []string{"no", "yes"}[rng.IntN(2)],
			1_500_000_000+rng.IntN(200_000_000))
		for trait := range 8 {
			value := rng.NormFloat64()
			if trait%3 == group {
				value += 0.4
			}
			fmt.Fprintf(&nodes, ",%.3f", value)
		}
		nodes.WriteString("\n")
		for range 2 + rng.IntN(5) {
			other := (group + 1) % 3 // two edges in five lead to a random group instead, after one meeting
			meetings := 1 + rng.IntN(9)
			if rng.Float64() < 0.4 {
				other, meetings = rng.IntN(3), 1
			}
			friend := of[other][rng.IntN(len(of[other]))]
			if pair := [2]int{min(i, friend), max(i, friend)}; friend != i && !met[pair] {
				met[pair] = true
				fmt.Fprintf(&edges, "p%d,p%d,%d\n", i, friend, meetings)
			}
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
