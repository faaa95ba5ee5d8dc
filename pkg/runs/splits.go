package runs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/train"
)

// maxSplit limits the list that a typing error could give.
const maxSplit = 9999

// ParseSplits parses a list such as "0-9", "0,3,5" or "0-2,7", without repetitions.
func ParseSplits(text string) ([]int, error) {
	bad := func(part string) ([]int, error) {
		return nil, fmt.Errorf("splits %q: %q is neither a number nor a range of numbers up to %d; "+
			"write for example 0-9 or 0,3,5", text, part, maxSplit)
	}
	var out []int
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.ParseUint(first, 10, 16)
		if err != nil {
			return bad(part)
		}
		to := from
		if isRange {
			if to, err = strconv.ParseUint(last, 10, 16); err != nil {
				return bad(part)
			}
		}
		if to < from || to > maxSplit {
			return bad(part)
		}
		for k := int(from); k <= int(to); k++ {
			if slices.Contains(out, k) {
				return nil, fmt.Errorf("splits %q: %d stands there twice", text, k)
			}
			out = append(out, k)
		}
	}
	return out, nil
}

// CheckSplits returns an error if one cannot train on one of the splits: if there are no labels, no such split, no
// nodes for training or validation in it, or if the metric is undefined.
func CheckSplits(splits []int, g *graphs.Graph, c train.Config) error {
	if err := HasSplits(splits, g); err != nil {
		return err
	}
	for _, k := range splits {
		_, err := g.Untaught(k)
		if err = cmp.Or(g.Teaches(k), err); err != nil {
			return err
		}
		s := g.Splits[k]
		for _, part := range []struct {
			name string
			mask []bool
		}{{"training", s.Train}, {"validation", s.Val}} {
			if !slices.Contains(part.mask, true) {
				return fmt.Errorf("split %d of %s has no %s nodes: add some to its mask, or choose other splits", k, g.Name,
					part.name)
			}
		}
		if err := train.Judges(c, g, k); err != nil {
			return err
		}
	}
	return nil
}

// HasSplits returns an error if a graph has no labels or lacks one of the splits.
func HasSplits(splits []int, g *graphs.Graph) error {
	if g.Labelled() == 0 {
		return fmt.Errorf("%s has no labels, which training needs: add them to it (a column label in nodes.csv, or an "+
			"array node_labels in an .npz), or have a model that was trained before predict them", g.Name)
	}
	if len(g.Splits) == 0 {
		return fmt.Errorf("%s has no splits to train on: add masks to it", g.Name)
	}
	for _, k := range splits {
		if k < 0 || k >= len(g.Splits) {
			return fmt.Errorf("%s has no split %d: its splits are numbered 0 to %d", g.Name, k, len(g.Splits)-1)
		}
	}
	return nil
}
