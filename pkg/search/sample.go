package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/samplemv"

	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// Sampler turns points of a randomised Halton sequence (Owen, A randomized Halton algorithm, 2017), which are spread
// more evenly than random ones, into the settings of trials. The settings of trial n do not depend on which trials were
// drawn before.
type Sampler struct {
	dimensions []Dimension
	base       train.Config
	seed       uint64
	points     *mat.Dense
	// next is the first point that is not used yet; points whose settings cannot be combined have no sample in drawn.
	next  int
	drawn []Sample
}

// Sample is the settings of one trial, and the complete configuration with them.
type Sample struct {
	Settings runs.Settings
	Config   train.Config
}

// NewSampler returns a sampler for the given dimensions. All other settings are taken from base.
func NewSampler(dimensions []Dimension, base train.Config, seed uint64) *Sampler {
	return &Sampler{dimensions: dimensions, base: base, seed: seed}
}

// Trial returns the settings of trial n. Points whose settings cannot be combined are skipped, but not too many in a
// row.
func (s *Sampler) Trial(n int) (Sample, error) {
	if len(s.dimensions) == 0 {
		return Sample{}, fmt.Errorf("the space has no setting of %s that is not given already: "+
			"choose another with --space", s.base.Model)
	}
	const most = 1000 // skipped points in a row
	for refused := 0; n >= len(s.drawn); {
		sample, err := s.sample(s.point(s.next))
		s.next++
		if err == nil {
			s.drawn, refused = append(s.drawn, sample), 0
		} else if refused++; refused == most {
			return Sample{}, fmt.Errorf("%d samples of the space in a row are impossible, the last since %w", most, err)
		}
	}
	return s.drawn[n], nil
}

// point returns point i of the sequence. A longer sequence begins with the same points.
func (s *Sampler) point(i int) []float64 {
	const first = 64
	if s.points == nil || i >= s.points.RawMatrix().Rows {
		rows := first
		for rows <= i {
			rows *= 2
		}
		d := len(s.dimensions)
		s.points = mat.NewDense(rows, d, nil)
		// PCG takes two numbers as its seed. The second one is an arbitrary constant.
		samplemv.Halton{Kind: samplemv.Owen, Q: distmv.NewUnitUniform(d, nil),
			Src: rand.NewPCG(s.seed, 0x7365617263680a)}.Sample(s.points)
	}
	return s.points.RawRowView(i)
}

// sample turns a point into settings. Conditional ones ([Range.When]) are drawn after all others.
func (s *Sampler) sample(point []float64) (Sample, error) {
	out := Sample{runs.Settings{}, s.base}
	for _, conditional := range []bool{false, true} {
		for i, d := range s.dimensions {
			if conditional != (len(d.When) > 0) || !d.applies(out.Config) {
				continue
			}
			out.Settings[d.Key] = d.at(min(max(point[i], 0), math.Nextafter(1, 0)))
			if err := out.Config.Decode(d.Key, out.Settings[d.Key]); err != nil {
				return out, err
			}
		}
	}
	return out, out.Config.Validate()
}

// applies tells whether c meets the conditions of the setting ([Range.When]).
func (d Dimension) applies(c train.Config) bool {
	for key, values := range d.When {
		met := false
		for _, value := range values {
			with := c
			err := with.Decode(key, value)
			met = met || err == nil && equal(with.Value(models.SettingOf(key)), c.Value(models.SettingOf(key)))
		}
		if !met {
			return false
		}
	}
	return true
}

func equal(a, b any) bool {
	x, _ := json.Marshal(a) // cannot fail: settings are plain values
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}
