package graphs

import (
	"fmt"
	"strconv"
)

// ID is a node's name in the file, or its number.
func (g *Graph) ID(node int) string {
	if g.IDs != nil {
		return g.IDs[node]
	}
	return strconv.Itoa(node)
}

// Classes are the names of the classes, or their numbers.
func (g *Graph) Classes() []string {
	if g.ClassNames != nil {
		return g.ClassNames
	}
	names := make([]string, g.NumClasses)
	for c := range names {
		names[c] = strconv.Itoa(c)
	}
	return names
}

func (g *Graph) Labelled() (count int) {
	for _, l := range g.Labels {
		if l != Unlabelled {
			count++
		}
	}
	return count
}

func (g *Graph) checkNames() error {
	for _, n := range []struct {
		what  string
		names []string
		want  int
	}{{"nodes", g.IDs, g.NumNodes}, {"classes", g.ClassNames, g.NumClasses},
		{"features", g.FeatureNames, g.NumFeatures}} {
		if n.names != nil && len(n.names) != n.want {
			return fmt.Errorf("graph %q: %d names for %d %s; give one for each, or none at all",
				g.Name, len(n.names), n.want, n.what)
		}
	}
	return nil
}

// Teaches returns an error if a node of the split has no label, so that it cannot be trained on.
func (g *Graph) Teaches(split int) error {
	s := g.Splits[split]
	for _, part := range []struct {
		name string
		mask []bool
	}{{"training", s.Train}, {"validation", s.Val}, {"test", s.Test}} {
		for i, in := range part.mask {
			if in && g.Labels[i] == Unlabelled {
				return fmt.Errorf("graph %q: node %q is a %s node of split %d, but has no label; "+
					"give it one, or take it out of the split", g.Name, g.ID(i), part.name, split)
			}
		}
	}
	return nil
}
