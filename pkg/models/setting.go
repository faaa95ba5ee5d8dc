package models

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Setting describes one setting of a model or of a training: the variable that holds its value, and its help for users.
// The command line, the files of experiments and the search read and set all settings by means of this type.
type Setting struct {
	// Name is the name of the flag, such as "max-iterations". In JSON, the name has "_" in place of "-".
	Name string
	// Value points to the variable that holds the setting's value. It is a *int, *uint64, *float64, *bool or *string.
	Value any
	// Help describes the setting in a few words.
	Help string
	// Least and Most are the smallest and the largest number allowed. If both are zero, all numbers are allowed.
	Least, Most float64
	// Default is the usual default of a shared setting, as text; empty for the zero value.
	Default string
	// OneOf lists the allowed values of a setting whose value is a text. If OneOf is empty, all texts are allowed.
	OneOf []string
	// Absent, if not nil, is the value with which the setting has no effect. A model that does not have the setting
	// accepts this value, and refuses all others.
	Absent any
	// Reverse marks a setting that says how far the reverse process goes, such as the number of reverse layers.
	// [Inverter.RoundTrip] runs the forward layers and then the inverses of exactly these layers. So RoundTrip does not
	// use the marked settings.
	Reverse bool

	field []int // the index of the field in its struct
}

func (s Setting) Key() string { return strings.ReplaceAll(s.Name, "-", "_") }

func (s Setting) Current() any {
	switch v := s.Value.(type) {
	case *int:
		return *v
	case *uint64:
		return *v
	case *float64:
		return *v
	case *bool:
		return *v
	case *string:
		return *v
	}
	panic(fmt.Errorf("setting %s points to a %T, which no setting is", s.Name, s.Value))
}

func (s Setting) isZero() bool { return reflect.ValueOf(s.Current()).IsZero() }

// Parse sets the value from text, as on a command line, or changes nothing.
func (s Setting) Parse(text string) (err error) {
	switch v := s.Value.(type) {
	case *int:
		err = assign(v, strconv.Atoi, text)
	case *uint64:
		err = assign(v, func(t string) (uint64, error) { return strconv.ParseUint(t, 10, 64) }, text)
	case *float64:
		err = assign(v, func(t string) (float64, error) { return strconv.ParseFloat(t, 64) }, text)
	case *bool:
		err = assign(v, strconv.ParseBool, text)
	case *string:
		*v = text
	}
	if err != nil {
		return fmt.Errorf("%s is %q: it must be %s", s.Name, text, s.kind())
	}
	return nil
}

func assign[T any](to *T, parse func(string) (T, error), text string) error {
	v, err := parse(text)
	if err == nil {
		*to = v
	}
	return err
}

func (s Setting) Decode(raw json.RawMessage) error {
	if err := json.Unmarshal(raw, s.Value); err != nil || string(raw) == "null" {
		return fmt.Errorf("%s is %s: it must be %s", s.Name, raw, s.kind())
	}
	return nil
}

func (s Setting) kind() string {
	switch s.Value.(type) {
	case *int:
		return "a whole number"
	case *uint64:
		return "a whole number from 0"
	case *float64:
		return "a number"
	case *bool:
		return "true or false"
	}
	return "a text"
}

// Unlimited and Positive stand for no upper limit and for "above 0", within float32, in which training computes.
const Unlimited, Positive = math.MaxFloat32, math.SmallestNonzeroFloat32

// Check says what to choose if the value is not allowed.
func (s Setting) Check() error {
	var number float64
	switch v := s.Value.(type) {
	case *string:
		if len(s.OneOf) > 0 && !slices.Contains(s.OneOf, *v) {
			return fmt.Errorf("%s is %q: choose %s", s.Name, *v, strings.Join(s.OneOf, " or "))
		}
		return nil
	case *int:
		number = float64(*v)
	case *uint64:
		number = float64(*v)
	case *float64:
		number = *v
	default:
		return nil
	}
	least, most := s.bounds()
	if math.IsNaN(number) || number < least || number > most {
		return fmt.Errorf("%s is %v: choose %s", s.Name, s.Current(), s.limits())
	}
	return nil
}

func (s Setting) bounds() (least, most float64) {
	least, most = s.Least, s.Most
	if least >= most {
		least, most = -Unlimited, Unlimited
	}
	if _, whole := s.Value.(*int); whole {
		least, most = max(least, math.MinInt32), min(most, math.MaxInt32)
	}
	return least, most
}

func (s Setting) limits() string {
	const fits = " that fits float32"
	least, most := s.bounds()
	switch {
	case most < Unlimited:
		return fmt.Sprintf("%s from %s to %s", s.kind(), decimal(least), decimal(most))
	case least == -Unlimited:
		return "a number" + fits
	case least == Positive:
		return "a positive number" + fits
	case least == 0:
		return "zero or a positive number" + fits
	}
	return fmt.Sprintf("%s of at least %s"+fits, s.kind(), decimal(least))
}

// decimal is a number as text, without an exponent if it is whole.
func decimal(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// SettingsOf lists the settings that are the fields of a struct, by their tags. v must be addressable. Embedded structs
// are groups of settings. A tag has help and, where they are needed, name (else the field's name in lower case with
// dashes), least, most ("unlimited", "positive" or a number), oneof, absent, reverse: see [Setting]. A field without
// help is no setting.
func SettingsOf(v reflect.Value) []Setting {
	t := v.Type()
	known, ok := described.Load(t)
	if !ok {
		known, _ = described.LoadOrStore(t, describe(t, nil))
	}
	list := slices.Clone(known.([]Setting))
	for i := range list {
		list[i].Value = v.FieldByIndex(list[i].field).Addr().Interface()
	}
	return list
}

// described has the settings of each type, without values: a search lists them thousands of times.
var described sync.Map

func describe(t reflect.Type, at []int) (list []Setting) {
	for i := range t.NumField() {
		f, field := t.Field(i), append(slices.Clone(at), i)
		if f.Anonymous {
			list = append(list, describe(f.Type, field)...)
			continue
		}
		help, is := f.Tag.Lookup("help")
		if !is {
			continue
		}
		s := Setting{Name: f.Tag.Get("name"), Help: help, Default: f.Tag.Get("default"), Least: limit(f, "least"),
			Most: limit(f, "most"), Reverse: f.Tag.Get("reverse") == "true", field: field}
		if s.Name == "" {
			s.Name = strings.ToLower(capitals.ReplaceAllString(f.Name, "$1-$2"))
		}
		if choices := f.Tag.Get("oneof"); choices != "" {
			s.OneOf = strings.Split(choices, ",")
			s.Help += ": " + listed(s.OneOf)
		}
		if text, ok := f.Tag.Lookup("absent"); ok {
			absent := s
			absent.Value = reflect.New(f.Type).Interface()
			if err := absent.Parse(text); err != nil {
				panic(fmt.Errorf("the tag absent of %s: %w", f.Name, err))
			}
			s.Absent = absent.Current()
		}
		list = append(list, s)
	}
	return list
}

// listed joins choices, as in "euler, rk4 or dopri5".
func listed(choices []string) string {
	last := len(choices) - 1
	return strings.Join(choices[:last], ", ") + " or " + choices[last]
}

var capitals = regexp.MustCompile("([a-z])([A-Z])")

func limit(f reflect.StructField, tag string) float64 {
	switch text := f.Tag.Get(tag); text {
	case "":
		return 0
	case "unlimited":
		return Unlimited
	case "positive":
		return Positive
	default:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic(fmt.Errorf("the tag %s of %s: %w", tag, f.Name, err))
		}
		return v
	}
}

// addressable returns a copy of a struct whose fields can be set.
func addressable(value any) reflect.Value {
	v := reflect.New(reflect.TypeOf(value)).Elem()
	v.Set(reflect.ValueOf(value))
	return v
}

// OwnOf is the model's own settings. It panics for the configuration of another model.
func OwnOf[T any](c Config) T {
	v, ok := c.Own.(T)
	if !ok {
		panic(fmt.Errorf("model %s has settings of the type %T, not %T", c.Model, c.Own, v))
	}
	return v
}
