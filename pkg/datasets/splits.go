package datasets

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/mathext/prng"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// PaperSeeds are the seeds of the ten random splits of He et al. (2021), "BernNet", which the paper uses.
var PaperSeeds = [10]uint32{1941488137, 4198936517, 983997847, 4023022221, 4019585660,
	2108550661, 1648766618, 629014539, 3212139042, 2424918363}

// PaperSplits returns the paper's ten random splits into 60 % training, 20 % validation and 20 % test, exactly as
// NumPy's RandomState(seed) draws them: choice(range(n), round(0.6 n), replace=False), then choice(the others in
// ascending order, round(0.2 n), replace=False).
func PaperSplits(n int) []graphs.Split {
	splits := make([]graphs.Split, len(PaperSeeds))
	for i, seed := range PaperSeeds {
		random := newLegacyRandom(seed)
		train := int(math.RoundToEven(0.6 * float64(n))) // Python rounds halves to the even number.
		splits[i] = random.split(n, permutation(n, random.below)[:train])
	}
	return splits
}

// labelledSplits are the [PaperSplits] of the nodes with labels or, where one of these would lack a class in a part,
// the [ClassSplits], with a note that says so; other nodes are in no mask.
func labelledSplits(labels []int32, classes int) (splits []graphs.Split, notes []string) {
	var nodes []int
	for i, class := range labels {
		if class != graphs.Unlabelled {
			nodes = append(nodes, i)
		}
	}
	if len(nodes) == 0 {
		return nil, nil
	}
	splits = PaperSplits(len(nodes))
	spread := func(mask []bool) []bool {
		out := make([]bool, len(labels))
		for k, i := range nodes {
			out[i] = mask[k]
		}
		return out
	}
	members, lacking := membersOf(labels, classes), 0
	for k, s := range splits {
		splits[k] = graphs.Split{Train: spread(s.Train), Val: spread(s.Val), Test: spread(s.Test)}
		if slices.ContainsFunc(members, func(class []int) bool {
			in := func(mask []bool) bool { return slices.ContainsFunc(class, func(i int) bool { return mask[i] }) }
			return len(class) >= leastMembers && !(in(splits[k].Train) && in(splits[k].Val) && in(splits[k].Test))
		}) {
			lacking++
		}
	}
	if lacking == 0 {
		return splits, nil
	}
	return ClassSplits(labels, classes), []string{fmt.Sprintf("the ten random splits are drawn class by class, since "+
		"%d of those drawn from all nodes together would lack a class in a part", lacking)}
}

// membersOf are the labelled nodes of each class, in ascending order.
func membersOf(labels []int32, classes int) [][]int {
	members := make([][]int, classes)
	for i, class := range labels {
		if class != graphs.Unlabelled {
			members[class] = append(members[class], i)
		}
	}
	return members
}

// leastMembers is the number of nodes with which a class can be in each part of a split.
const leastMembers = 3

// ClassSplits returns ten random splits of the nodes with labels in which each class has 60 % of its nodes for
// training, 20 % for validation and 20 % for test, rounded so that one at least is in each part. Classes of fewer than
// three nodes are drawn together, as if they were one. RandomState(seed) permutes class by class.
func ClassSplits(labels []int32, classes int) []graphs.Split {
	members, n := membersOf(labels, classes), len(labels)
	var small []int
	for _, class := range members {
		if len(class) < leastMembers {
			small = append(small, class...)
		}
	}
	members = append(slices.DeleteFunc(members, func(class []int) bool { return len(class) < leastMembers }), small)
	splits := make([]graphs.Split, len(PaperSeeds))
	for k, seed := range PaperSeeds {
		random := newLegacyRandom(seed)
		s := graphs.Split{Train: make([]bool, n), Val: make([]bool, n), Test: make([]bool, n)}
		for _, class := range members {
			size := float64(len(class))
			train := max(1, min(int(math.RoundToEven(0.6*size)), len(class)-2))
			val := train + max(1, min(int(math.RoundToEven(0.2*size)), len(class)-train-1))
			for at, i := range permutation(len(class), random.below) {
				node := class[i]
				s.Train[node], s.Val[node], s.Test[node] = at < train, at >= train && at < val, at >= val
			}
		}
		splits[k] = s
	}
	return splits
}

// BalancedSplits returns the ten splits on which He et al. (2021) ran the baselines of the paper's table 6: round(0.6 n
// / classes) training nodes of each class, or all of a smaller one, and 20 % of all nodes, from the rest, for
// validation. A class that is used up is never tested: two of seven on Cora, one of six on Citeseer, six of ten on
// Computers, two of eight on Photo. RandomState(seed) draws class by class by choice(nodes, …, replace=False), then as
// in [PaperSplits].
func BalancedSplits(labels []int32, classes int) []graphs.Split {
	members := membersOf(labels, classes)
	quota := int(math.RoundToEven(0.6 * float64(len(labels)) / float64(classes)))
	splits := make([]graphs.Split, len(PaperSeeds))
	for i, seed := range PaperSeeds {
		random := newLegacyRandom(seed)
		var train []int
		for _, class := range members {
			if len(class) < quota {
				train = append(train, class...)
				continue
			}
			for _, k := range permutation(len(class), random.below)[:quota] {
				train = append(train, class[k])
			}
		}
		splits[i] = random.split(len(labels), train)
	}
	return splits
}

// split draws round(0.2 n) validation nodes from those that are not for training.
func (r legacyRandom) split(n int, train []int) graphs.Split {
	s := graphs.Split{Train: make([]bool, n), Val: make([]bool, n), Test: make([]bool, n)}
	for _, i := range train {
		s.Train[i] = true
	}
	rest := make([]int, 0, n-len(train))
	for i, taken := range s.Train {
		if !taken {
			rest = append(rest, i)
			s.Test[i] = true
		}
	}
	val := min(int(math.RoundToEven(0.2*float64(n))), len(rest))
	for _, k := range permutation(len(rest), r.below)[:val] {
		s.Val[rest[k]] = true
		s.Test[rest[k]] = false
	}
	return s
}

// legacyRandom draws as numpy.random.RandomState, unchanged since NumPy 1.17.
type legacyRandom struct{ *prng.MT19937 }

func newLegacyRandom(seed uint32) legacyRandom {
	source := prng.NewMT19937()
	source.Seed(uint64(seed))
	return legacyRandom{source}
}

// below draws uniformly from 0 … n-1: the lowest bits of 32, again until they are below n; for 1 nothing is drawn, as
// in NumPy.
func (r legacyRandom) below(n int) int {
	if n == 1 {
		return 0
	}
	mask := uint32(1)<<bits.Len32(uint32(n-1)) - 1
	for {
		if v := int(r.Uint32() & mask); v < n {
			return v
		}
	}
}

// permutation is RandomState.permutation(n), with the random numbers of below.
func permutation(n int, below func(n int) int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	shuffle(p, below)
	return p
}

// shuffle is the algorithm of Fisher and Yates, from the last position; below(n) draws from 0 … n-1.
func shuffle(p []int, below func(n int) int) {
	for i := len(p) - 1; i > 0; i-- {
		j := below(i + 1)
		p[i], p[j] = p[j], p[i]
	}
}
