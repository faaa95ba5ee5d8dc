package search

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/samplemv"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/train"
)

// Space says which settings are searched, and in which ranges: a JSON file, such as those in data/spaces.
type Space struct {
	Schema string `json:"$schema,omitempty"`
	Name   string `json:"name"`
	// About says where the ranges come from.
	About string `json:"about"`
	// Of several rules about a setting of a model, the last one counts.
	Rules []Rule `json:"rules"`
}

// Rule gives ranges to the settings of models. A rule that names no models applies to all, which ignore the settings
// that they do not have; models that it names must have them all.
type Rule struct {
	Note     string           `json:"note,omitempty"`
	Models   []string         `json:"models,omitempty"`
	Settings map[string]Range `json:"settings"`
}

const maxSpace = 1 << 20

// openSpace returns a space that comes with revgnn (in data/spaces), by its name, or reads a file.
func openSpace(nameOrFile string) (*Space, error) {
	var text []byte
	var err error
	if slices.Contains(data.SpaceNames(), nameOrFile) {
		text, err = data.Space(nameOrFile)
	} else {
		text, err = files.Read(nameOrFile, "a space of settings as JSON", maxSpace)
	}
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsRune(nameOrFile, os.PathSeparator) {
		return nil, fmt.Errorf("there is no space %q: give %s, or a file", nameOrFile,
			strings.Join(data.SpaceNames(), " or "))
	}
	if err != nil {
		return nil, err
	}
	s, err := ParseSpace(text)
	if err != nil {
		err = fmt.Errorf("%s: %w", nameOrFile, err)
	}
	return s, err
}

// ParseSpace reads a space from JSON. It returns an error for an unknown setting or model, for a range that is empty or
// has values that the setting cannot have, and for conditions on settings with conditions.
func ParseSpace(text []byte) (*Space, error) {
	var s Space
	if err := files.Strict(text, &s); err != nil {
		return nil, fmt.Errorf("the space cannot be read: %w", err)
	}
	if s.Name == "" || len(s.Rules) == 0 {
		return nil, fmt.Errorf("the space needs a name and rules")
	}
	for i, r := range s.Rules {
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("the space %s, rule %d: %w", s.Name, i+1, err)
		}
	}
	for _, model := range models.Names() {
		drawn := s.Of(model)
		for _, d := range drawn {
			for _, other := range drawn { // those with conditions are drawn in no special order
				if _, named := d.When[other.Key]; named && len(other.When) > 0 {
					return nil, fmt.Errorf("the space %s, for %s: the condition of %s names %s, which has a condition "+
						"itself: give %s no condition, or name another setting", s.Name, model, d.Key, other.Key, other.Key)
				}
			}
		}
	}
	return &s, nil
}

// ordered lists the settings that all trials of a search share.
var ordered = []string{"epochs", "patience", "seed"}

// check returns an error if the rule is impossible. It replaces models' aliases by their names.
func (r Rule) check() error {
	for i, model := range r.Models {
		k, err := models.Lookup(model)
		if err != nil {
			return err
		}
		r.Models[i] = k.Name
	}
	for _, key := range slices.Sorted(maps.Keys(r.Settings)) {
		if slices.Contains(ordered, key) {
			return fmt.Errorf("%s is no setting to search: give it on the command line, as --%s", key, key)
		}
		if err := r.Settings[key].check(); err != nil {
			return fmt.Errorf("setting %s: %w", key, err)
		}
		if err := (runs.Settings{key: nil}).Check(); err != nil {
			return err
		}
		if err := r.fits(key); err != nil {
			return err
		}
	}
	return nil
}

// fits returns an error if a setting of a model cannot have the corners of its range, or the values in its conditions.
func (r Rule) fits(key string) error {
	named := r.Models
	if len(named) == 0 {
		named = models.Names()
	}
	for _, model := range named {
		c := train.Default(model)
		if len(r.Models) == 0 && c.Value(models.SettingOf(key)) == nil {
			continue
		}
		for _, value := range r.Settings[key].corners() {
			if err := possible(c, key, value); err != nil {
				return fmt.Errorf("%s: %w", model, err)
			}
		}
		for other, values := range r.Settings[key].When {
			for _, value := range values {
				if err := possible(c, other, value); err != nil {
					return fmt.Errorf("%s: the condition of %s: %w", model, key, err)
				}
			}
		}
	}
	return nil
}

// possible returns an error if the setting of c cannot have the value.
func possible(c train.Config, key string, value json.RawMessage) error {
	if err := c.Decode(key, value); err != nil {
		return err
	}
	for _, s := range c.Settings() {
		if s.Key() == key {
			return s.Check()
		}
	}
	return nil
}

type Dimension struct {
	Key string
	Range
}

// Of returns those settings of a model that are searched, without those in fixed, in the order of their names.
func (s *Space) Of(model string, fixed ...string) []Dimension {
	ranges := map[string]Range{}
	c := train.Default(model)
	for _, r := range s.Rules {
		if len(r.Models) > 0 && !slices.Contains(r.Models, model) {
			continue
		}
		for key, one := range r.Settings {
			if c.Value(models.SettingOf(key)) != nil && !slices.Contains(fixed, key) {
				ranges[key] = one
			}
		}
	}
	var out []Dimension
	for _, key := range slices.Sorted(maps.Keys(ranges)) {
		out = append(out, Dimension{key, ranges[key]})
	}
	return out
}

// Range is the range of a setting's values. Exactly one of Log, Linear, Integer and Choice is given.
type Range struct {
	// The smallest and the largest number. Log draws numbers whose logarithms are spread evenly, Integer whole ones.
	Log     *ends `json:"log,omitempty"`
	Linear  *ends `json:"linear,omitempty"`
	Integer *ends `json:"integer,omitempty"`
	// Step, if not 0, is the distance between the values that Linear can draw, from the smallest on.
	Step   float64           `json:"step,omitempty"`
	Choice []json.RawMessage `json:"choice,omitempty"`
	// When is a condition: values of other settings. Unless each of these has one of its values, this setting is not
	// drawn, and has its value from [Search.Base].
	When map[string][]json.RawMessage `json:"when,omitempty"`
}

type ends [2]float64

// digits is the number of significant digits of drawn numbers, so that machines with different last digits draw the
// same.
const digits = 4

func (r Range) check() error {
	kinds := 0
	for name, e := range map[string]*ends{"log": r.Log, "linear": r.Linear, "integer": r.Integer} {
		if e == nil {
			continue
		}
		kinds++
		switch {
		case math.IsNaN(e[0]) || math.IsInf(e[0], 0) || !(e[0] <= e[1]) || math.IsInf(e[1], 0):
			return fmt.Errorf("%s is from %g to %g: give the least number first", name, e[0], e[1])
		case name == "log" && e[0] <= 0:
			return fmt.Errorf("log is from %g to %g: logarithms need numbers above zero", e[0], e[1])
		case name == "integer" && (e[0] != math.Trunc(e[0]) || e[1] != math.Trunc(e[1])):
			return fmt.Errorf("integer is from %g to %g: give whole numbers", e[0], e[1])
		}
	}
	if r.Choice != nil {
		kinds++
	}
	switch {
	case kinds != 1:
		return fmt.Errorf("it has %d of log, linear, integer and choice: give one", kinds)
	case r.Choice != nil && len(r.Choice) == 0:
		return fmt.Errorf("its choice is empty: give a value at least")
	case r.Step != 0 && (r.Linear == nil || r.Step < 0):
		return fmt.Errorf("step is %g: it goes with linear, and is above zero", r.Step)
	}
	for name, values := range r.When {
		if len(values) == 0 {
			return fmt.Errorf("it is for no value of %q: give a value at least, or leave the condition out", name)
		}
	}
	return nil
}

// corners returns the smallest and the largest value, or all choices.
func (r Range) corners() []json.RawMessage {
	if r.Choice != nil {
		return r.Choice
	}
	return []json.RawMessage{r.at(0), r.at(math.Nextafter(1, 0))}
}

// at turns a number 0 <= u < 1 into a value of the range, in ascending order.
func (r Range) at(u float64) json.RawMessage {
	switch {
	case r.Choice != nil:
		return r.Choice[int(u*float64(len(r.Choice)))]
	case r.Integer != nil:
		low, high := r.Integer[0], r.Integer[1]
		return json.RawMessage(strconv.FormatFloat(low+math.Floor(u*(high-low+1)), 'f', -1, 64))
	case r.Log != nil:
		low, high := math.Log(r.Log[0]), math.Log(r.Log[1])
		return r.Log.number(math.Exp(low + u*(high-low)))
	case r.Step > 0:
		steps := math.Floor((r.Linear[1]-r.Linear[0])/r.Step + 1e-9)
		return r.Linear.number(r.Linear[0] + r.Step*math.Floor(u*(steps+1)))
	}
	return r.Linear.number(r.Linear[0] + u*(r.Linear[1]-r.Linear[0]))
}

// number rounds v to the significant digits, within the range.
func (e ends) number(v float64) json.RawMessage {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	return json.RawMessage(strconv.FormatFloat(min(max(short, e[0]), e[1]), 'g', -1, 64))
}

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

// newSampler returns a sampler for the given dimensions. All other settings are taken from base.
func newSampler(dimensions []Dimension, base train.Config, seed uint64) *Sampler {
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
			met = met || err == nil && with.Value(models.SettingOf(key)) == c.Value(models.SettingOf(key))
		}
		if !met {
			return false
		}
	}
	return true
}
