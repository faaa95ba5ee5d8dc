package search

import (
	"math"
	"reflect"
	"slices"
	"testing"
)

func TestRungs(t *testing.T) {
	for _, c := range []struct {
		epochs, least, reduction int
		want                     []int
	}{
		{1000, 37, 3, []int{38, 112, 334, 1000}},
		{270, 10, 3, []int{10, 30, 90, 270}},
		{8, 1, 2, []int{1, 2, 4, 8}},
		{5, 5, 3, []int{5}},
		{2, 1, 3, []int{1, 2}},
	} {
		if got := NewSchedule(c.epochs, c.least, c.reduction, 0).Rungs; !slices.Equal(got, c.want) {
			t.Errorf("%d epochs from %d by %d: rungs %v, want %v", c.epochs, c.least, c.reduction, got, c.want)
		}
	}
}

// play goes through a search without training: it does all jobs of a schedule, one after the other, and takes the score
// of a trial at a rung from the function score. It returns the jobs in the order in which they were done, and the
// standings of the trials at the end.
func play(s Schedule, score func(Job) float64) (done []Job, of Standings) {
	of = Standings{}
	for {
		next, more := Job{}, false
		for job := range s.Next(of) {
			next, more = job, true
			break
		}
		if !more {
			return done, of
		}
		t := of[next.Trial]
		t.Scores = append(t.Scores, score(next))
		of[next.Trial] = t
		done = append(done, next)
	}
}

// TestPromotion does the jobs of nine trials with given scores, in a schedule with reduction 3 and three rungs. The
// expected order of the jobs was worked out by hand.
func TestPromotion(t *testing.T) {
	first := []float64{0.5, 0.7, 0.6, 0.9, math.Inf(-1), 0.8, 0.1, 0.2, 0.3}
	done, of := play(NewSchedule(9, 1, 3, 9), func(j Job) float64 { return first[j.Trial] + 0.01*float64(j.Rung) })
	want := []Job{
		{0, 0}, {1, 0}, {2, 0}, // trial 1, the best of three, continues
		{1, 1}, {3, 0}, // trial 3 is now the best of four
		{3, 1}, {4, 0}, {5, 0}, // the best two of six are trials 3 and 5
		{5, 1}, {3, 2}, // trial 3 is the best of the three on the second rung
		{6, 0}, {7, 0}, {8, 0}, // the best three of nine, trials 3, 5 and 1, have continued already
	}
	if !reflect.DeepEqual(done, want) {
		t.Errorf("got  %v\nwant %v", done, want)
	}
	if best, ok := of.Best(); !ok || best != 3 {
		t.Errorf("the best is %d, %t", best, ok)
	}
}

// TestEnd: four trials reach the first rung. One third of them, rounded down, is one trial, which continues to the
// second rung. One third of one trial, rounded down, is none, so that no trial would train up to the last rung. But as
// soon as no new trials are left, the best trial continues to the last rung all the same.
func TestEnd(t *testing.T) {
	first := []float64{0.5, 0.7, 0.6, 0.2}
	done, _ := play(NewSchedule(9, 1, 3, 4), func(j Job) float64 { return first[j.Trial] })
	want := []Job{{0, 0}, {1, 0}, {2, 0}, {1, 1}, {3, 0}, {1, 2}}
	if !reflect.DeepEqual(done, want) {
		t.Errorf("got  %v\nwant %v", done, want)
	}
	done, of := play(NewSchedule(9, 1, 3, 2), func(Job) float64 { return math.Inf(-1) })
	if _, ok := of.Best(); ok || len(done) != 2 {
		t.Errorf("trials that all failed came to %v", done)
	}
	if done, _ := play(NewSchedule(9, 9, 3, 2), func(Job) float64 { return 1 }); len(done) != 2 {
		t.Errorf("with one rung: %v", done)
	}
}

// TestPromotedGoesWrong: only one trial continues from a rung, and fails or diverges later. Then the next best trial at
// this rung, if there is one, continues in its place.
func TestPromotedGoesWrong(t *testing.T) {
	first, wrong := []float64{0.5, 0.7, 0.6}, map[Job]bool{{1, 1}: true, {2, 2}: true}
	score := func(j Job) float64 {
		if wrong[j] {
			return math.Inf(-1)
		}
		return first[j.Trial]
	}
	done, of := play(NewSchedule(9, 1, 3, 3), score)
	if want := []Job{{0, 0}, {1, 0}, {2, 0}, {1, 1}, {2, 1}, {2, 2}, {0, 1}, {0, 2}}; !reflect.DeepEqual(done, want) {
		t.Errorf("got  %v\nwant %v", done, want)
	}
	if best, ok := of.Best(); !ok || best != 0 {
		t.Errorf("the best is %d, %t", best, ok)
	}
	for n := range first {
		wrong[Job{n, 1}] = true
	}
	if done, of = play(NewSchedule(9, 1, 3, 3), score); len(done) != 6 {
		t.Errorf("where all go wrong: %v, %v", done, of)
	}
}

// TestNextInParallel: Next lists several jobs that can be done at the same time, so that each of several processes
// finds a job.
func TestNextInParallel(t *testing.T) {
	s := NewSchedule(9, 1, 3, 0)
	of := Standings{0: {Scores: []float64{0.5}}, 1: {Scores: []float64{0.7}}, 2: {Scores: []float64{0.6}},
		3: {Begun: true}}
	var got []Job
	for job := range s.Next(of) {
		if got = append(got, job); len(got) == 4 {
			break
		}
	}
	if want := []Job{{3, 0}, {1, 1}, {4, 0}, {5, 0}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// curve returns the metric of an artificial training after a number of epochs. The metric approaches a limit
// exponentially. The limit and the speed are drawn at random for each trial.
func curve(seed, trial, epochs int) float64 {
	h := uint64(seed*1000003+trial)*0x9e3779b97f4a7c15 + 1
	next := func() float64 { // splitmix64
		h += 0x9e3779b97f4a7c15
		z := (h ^ h>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return float64((z^z>>31)>>11) / (1 << 53)
	}
	limit, pace := 0.5+0.45*math.Sqrt(next()), 20*math.Exp(2*next())
	return limit - 0.4*math.Exp(-float64(epochs)/pace) + 0.004*(next()-0.5)
}

// TestHalvingNeedsHalfTheEpochs: successive halving finds the best of 64 trials in at most half of the epochs that 64
// complete trainings take, for three seeds.
func TestHalvingNeedsHalfTheEpochs(t *testing.T) {
	const epochs, trials = 1000, 64
	s := NewSchedule(epochs, epochs/27, 3, trials)
	for seed := range 3 {
		best := 0.0
		for n := range trials {
			best = max(best, curve(seed, n, epochs))
		}
		done, _ := play(s, func(j Job) float64 { return curve(seed, j.Trial, s.Rungs[j.Rung]) })
		spent, reached := 0, 0
		for _, j := range done {
			if spent += s.Rungs[j.Rung]; j.Rung > 0 {
				spent -= s.Rungs[j.Rung-1]
			}
			if reached == 0 && curve(seed, j.Trial, s.Rungs[j.Rung]) >= best {
				reached = spent
			}
		}
		t.Logf("seed %d: %.4f after %d epochs, all within %d; random search: %d", seed, best, reached, spent, epochs*trials)
		if reached == 0 || 2*reached > epochs*trials {
			t.Errorf("seed %d: %.4f is reached after %d epochs, random search takes %d", seed, best, reached, epochs*trials)
		}
	}
}
