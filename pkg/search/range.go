package search

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

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
