package datasets

import (
	"math"

	"gonum.org/v1/gonum/mathext/prng"

	"github.com/revgnn/revgnn/pkg/graphs"
)

// PaperSeeds are the seeds of the ten random splits on which He et al. (2021) measured their model BernNet. The paper
// uses the same ten splits.
var PaperSeeds = [10]uint32{1941488137, 4198936517, 983997847, 4023022221, 4019585660,
	2108550661, 1648766618, 629014539, 3212139042, 2424918363}

// PaperSplits returns the paper's ten random splits of n nodes into 60 % training, 20 % validation and 20 % test.
//
// For each seed of PaperSeeds, NumPy's legacy generator RandomState(seed) draws exactly the same split. The training
// nodes are choice(range(n), round(0.6 n), replace=False). The validation nodes are choice(the remaining nodes in
// ascending order, round(0.2 n), replace=False). All other nodes are for testing.
func PaperSplits(n int) []graphs.Split {
	splits := make([]graphs.Split, len(PaperSeeds))
	for i, seed := range PaperSeeds {
		splits[i] = paperSplit(n, seed)
	}
	return splits
}

// labelledSplits returns the [PaperSplits] of the nodes that have labels. Nodes without a label are in no mask. If no
// node has a label, there are no splits.
func labelledSplits(labels []int32) []graphs.Split {
	var nodes []int
	for i, l := range labels {
		if l != graphs.Unlabelled {
			nodes = append(nodes, i)
		}
	}
	if len(nodes) == 0 {
		return nil
	}
	splits := PaperSplits(len(nodes))
	if len(nodes) == len(labels) {
		return splits
	}
	spread := func(mask []bool) []bool {
		out := make([]bool, len(labels))
		for k, i := range nodes {
			out[i] = mask[k]
		}
		return out
	}
	for k, s := range splits {
		splits[k] = graphs.Split{Train: spread(s.Train), Val: spread(s.Val), Test: spread(s.Test)}
	}
	return splits
}

func paperSplit(n int, seed uint32) graphs.Split {
	random := newLegacyRandom(seed)
	// A Python program made the published splits. Python rounds a number halfway between two integers to the even one.
	train := int(math.RoundToEven(0.6 * float64(n)))
	return random.split(n, random.permutation(n)[:train])
}

// BalancedSplits returns the ten class-balanced random splits on which He et al. (2021), "BernNet", ran the baselines
// of the paper's table 6. Each class has the same number of training nodes, round(0.6 n / classes) for n nodes. If a
// class has fewer nodes than this number, all of its nodes are for training. The validation nodes are 20 % of all
// nodes. They are drawn from all nodes that are not for training, without regard to their classes. All other nodes are
// for testing. A class whose nodes are all used for training is never tested: this is so for two of seven classes on
// Cora, one of six on Citeseer, six of ten on Computers, and two of eight on Photo.
//
// For each seed of PaperSeeds, NumPy's legacy generator random = RandomState(seed) draws exactly the same split. For
// each class it draws the training nodes by random.choice(the nodes of the class, round(0.6 n / classes),
// replace=False). Then it draws the validation nodes as in [PaperSplits].
func BalancedSplits(labels []int32, classes int) []graphs.Split {
	members := make([][]int, classes)
	for i, class := range labels {
		members[class] = append(members[class], i)
	}
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
			for _, k := range random.permutation(len(class))[:quota] {
				train = append(train, class[k])
			}
		}
		splits[i] = random.split(len(labels), train)
	}
	return splits
}

// split makes a split of n nodes with the given training nodes. It draws round(0.2 n) validation nodes from the nodes
// that are not for training. All other nodes are for testing.
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
	for _, k := range r.permutation(len(rest))[:val] {
		s.Val[rest[k]] = true
		s.Test[rest[k]] = false
	}
	return s
}

// legacyRandom draws the same numbers as numpy.random.RandomState, NumPy's legacy generator, whose numbers have not
// changed since NumPy 1.17.
type legacyRandom struct{ *prng.MT19937 }

func newLegacyRandom(seed uint32) legacyRandom {
	source := prng.NewMT19937()
	source.Seed(uint64(seed))
	return legacyRandom{source}
}

// interval draws a number uniformly from 0 … limit. It draws 32 random bits, and keeps only as many of the lowest bits
// as limit has in binary notation. It repeats this until the result is at most limit. With a limit of 0 it returns 0
// without drawing, as NumPy does.
func (r legacyRandom) interval(limit uint32) uint32 {
	if limit == 0 {
		return 0
	}
	mask := limit
	for shift := 1; shift < 32; shift *= 2 {
		mask |= mask >> shift
	}
	for {
		if v := r.Uint32() & mask; v <= limit {
			return v
		}
	}
}

// permutation does what RandomState.permutation(n) does: it shuffles the numbers 0 … n-1 by the Fisher-Yates algorithm,
// from the last position to the first.
func (r legacyRandom) permutation(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j := r.interval(uint32(i))
		p[i], p[j] = p[j], p[i]
	}
	return p
}
