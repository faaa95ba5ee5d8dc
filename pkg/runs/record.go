package runs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Kinds of runs. An inversion runs layers with random weights forwards and then backwards. A benchmark measures time
// and memory of training steps. A measurement is of a graph, for example its homophily.
const (
	Train   = "train"
	Invert  = "invert"
	Bench   = "bench"
	Measure = "measure"
	// Search is a trial of a search for settings (package search).
	Search = "search"
)

// Statuses of runs. A training diverges if its loss is not finite or a GRAND model's equation cannot be integrated.
// Results of runs that are not OK must not be averaged with others.
const (
	OK          = "ok"
	Diverged    = "diverged"
	Interrupted = "interrupted"
	Failed      = "failed"
)

var (
	Kinds    = []string{Train, Invert, Bench, Measure, Search}
	Statuses = []string{OK, Diverged, Interrupted, Failed}
)

// NoSplit is the split of a run on a whole graph, such as a benchmark.
const NoSplit = -1

// Record is the record of one run.
type Record struct {
	// Sorted by ID, records are in the order of their starts.
	ID string `json:"id"`
	// Key is the same for runs that do the same: of [Record.definition], or a [Key] of another definition.
	Key  string `json:"key"`
	Kind string `json:"kind"`
	// Profile is the name of the profile or the ID of the search that the run was made for; it may be empty.
	Profile string `json:"profile"`
	// Dataset is the name that users type, and Checksum that of its graph ([graphs.Graph.Checksum]).
	Dataset  string `json:"dataset"`
	Checksum string `json:"checksum"`
	Model    string `json:"model"`
	// Config has the settings of the run, such as a train.Config.
	Config json.RawMessage `json:"config,omitempty"`
	Split  int             `json:"split"`
	Seed   uint64          `json:"seed"`
	Engine string          `json:"engine"`
	// Versions are those of Go, of revgnn, and of the modules that it computes with. Commit may be empty, and ends in
	// "-dirty" if files were changed.
	Versions map[string]string `json:"versions,omitempty"`
	Commit   string            `json:"commit"`
	Machine  Machine           `json:"machine"`
	// Both times are exact to the millisecond.
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"`
	Status  string    `json:"status"`
	Message string    `json:"message,omitempty"`
	// Outcome has the results of the run, such as a train.Result.
	Outcome json.RawMessage `json:"outcome,omitempty"`
}

// FailedBefore tells whether the run failed, and started before t: a process that began at t makes it again, but not
// one that failed since.
func (r *Record) FailedBefore(t time.Time) bool { return r.Status == Failed && r.Started.Before(t) }

type Machine struct {
	// Platform is the operating system and the architecture, such as "linux/amd64".
	Platform string `json:"platform"`
	CPU      string `json:"cpu"`
	GPU      string `json:"gpu,omitempty"`
	Cores    int    `json:"cores"`
	// Which processor it is, and its instruction sets for vectors, with spaces between them. Processors of one name may
	// differ in them, and then in the last digits of results. Empty in records of early versions.
	Family   string `json:"family,omitempty"`
	Model    string `json:"model,omitempty"`
	Features string `json:"features,omitempty"`
}

const notRecorded = "not recorded"

func (m Machine) Processor() [][2]string {
	return [][2]string{{"processor family", cmp.Or(m.Family, notRecorded)},
		{"processor model", cmp.Or(m.Model, notRecorded)}, {"processor features", cmp.Or(m.Features, notRecorded)}}
}

// Same tells whether two machines are alike in everything that is recorded of both.
func (m Machine) Same(other Machine) bool {
	if m.Family == "" || other.Family == "" {
		m.Family, m.Model, m.Features = other.Family, other.Model, other.Features
	}
	return m == other
}

// Query selects the records that have all the given values. An empty field matches any value.
type Query struct {
	Kind, Profile, Dataset, Model, Key string
	Status                             []string
}

// idAlphabet is Crockford's base 32, without letters that look like others. It is in the order of codes, so that IDs,
// which begin with the time of the start, sort by this time.
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// An ID is nine digits for the milliseconds since 1970, enough for a thousand years, and five random digits.
const (
	timeDigits   = 9
	randomDigits = 5
)

var (
	idPattern  = regexp.MustCompile(`^[` + idAlphabet + `]{14}$`)
	hexPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

func newID(started time.Time) string {
	id := make([]byte, timeDigits+randomDigits)
	ms := started.UnixMilli()
	for i := timeDigits - 1; i >= 0; i-- {
		id[i] = idAlphabet[ms&31]
		ms >>= 5
	}
	for i := timeDigits; i < len(id); i++ {
		id[i] = idAlphabet[rand.IntN(32)]
	}
	return string(id)
}

// definition returns what the key is computed from. Versions and machine do not belong to it.
func (r Record) definition() map[string]any {
	return map[string]any{"kind": r.Kind, "dataset": r.Dataset, "checksum": r.Checksum, "model": r.Model,
		"config": r.Config, "split": r.Split, "seed": r.Seed, "engine": r.Engine}
}

// prepared returns the record as it is stored: times in UTC and exact to the millisecond, config and outcome as
// canonical JSON, texts on one line, and a key.
func (r Record) prepared() (Record, error) {
	r.Started = r.Started.UTC().Truncate(time.Millisecond)
	r.Seconds = math.Round(r.Seconds*1000) / 1000
	for _, text := range []*string{&r.Profile, &r.Dataset, &r.Model, &r.Engine, &r.Commit, &r.Message,
		&r.Machine.Platform, &r.Machine.CPU, &r.Machine.GPU, &r.Machine.Family, &r.Machine.Model, &r.Machine.Features} {
		*text = line(*text)
	}
	if len(r.Versions) == 0 {
		r.Versions = nil
	}
	var err error
	if r.Config, err = object("config", r.Config); err != nil {
		return r, err
	}
	if r.Outcome, err = object("outcome", r.Outcome); err != nil {
		return r, err
	}
	if r.Key == "" {
		r.Key = Key(r.definition())
	}
	return r, r.validate()
}

func (r Record) validate() error {
	switch {
	case r.ID != "" && !idPattern.MatchString(r.ID): // the store gives one where there is none
		return fmt.Errorf("id is %q: it must be one of %d letters and digits, as revgnn gives them", r.ID,
			timeDigits+randomDigits)
	case !slices.Contains(Kinds, r.Kind):
		return fmt.Errorf("kind is %q: it must be one of %s", r.Kind, strings.Join(Kinds, ", "))
	case !slices.Contains(Statuses, r.Status):
		return fmt.Errorf("status is %q: it must be one of %s", r.Status, strings.Join(Statuses, ", "))
	case r.Split < NoSplit:
		return fmt.Errorf("split is %d: it must be a split's number, or %d for none", r.Split, NoSplit)
	case !(r.Seconds >= 0) || math.IsInf(r.Seconds, 0):
		return fmt.Errorf("seconds is %g: it must be zero or a positive number", r.Seconds)
	case r.Started.Year() < 1970 || r.Started.Year() > 9999:
		return fmt.Errorf("started is %s: it must be a time from 1970 to 9999", r.Started.Format(time.RFC3339))
	case r.Machine.Cores < 0:
		return fmt.Errorf("cores is %d: it must be zero or a positive number", r.Machine.Cores)
	case !hexPattern.MatchString(r.Key):
		return fmt.Errorf("key is %q: it must be a SHA-256 in 64 hex digits", r.Key)
	case r.Checksum != "" && !hexPattern.MatchString(r.Checksum):
		return fmt.Errorf("checksum is %q: it must be a SHA-256 in 64 hex digits", r.Checksum)
	}
	return nil
}

func object(name string, raw json.RawMessage) (json.RawMessage, error) {
	b, err := canonical(raw)
	if err != nil {
		return nil, fmt.Errorf("%s is %w", name, err)
	}
	if len(b) > 0 && b[0] != '{' {
		return nil, fmt.Errorf("%s is %.40s: it must be a JSON object", name, b)
	}
	return b, nil
}

// line replaces control characters by spaces, so that the text is on one line in every file format.
func line(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
}

// Key returns the SHA-256 of a definition's canonical JSON in hex digits: the members of objects are sorted, there is
// no white space, and equal numbers are written equally. It panics if there is no such JSON.
func Key(definition any) string {
	raw, err := json.Marshal(definition)
	if err == nil {
		raw, err = canonical(raw)
	}
	if err != nil {
		panic(fmt.Errorf("a run's definition cannot be written as JSON: %w", err))
	}
	return hexSum(raw)
}

// canonical sorts the members of objects and leaves out white space, so that equal values are written equally: 5e-3 as
// 0.005, and whole numbers, of which a float64 cannot hold all digits, as they are. It is nil for null and for no
// value.
func canonical(raw []byte) (json.RawMessage, error) {
	v := bytes.TrimSpace(slices.Clone(raw))
	if len(v) == 0 || string(v) == "null" {
		return nil, nil
	}
	err := (*jsontext.Value)(&v).Format(jsontext.CanonicalizeRawFloats(true), jsontext.ReorderRawObjects(true))
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if bytes.Contains(v, []byte("1.7976931348623157e+308")) { // what Format makes of all that is larger
		return nil, errors.New("not JSON that can be kept: a number does not fit 64 bits")
	}
	return v, nil
}

// marshal is json.Marshal without escapes of <, > and &.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// columns are the columns of a record in SQLite and in CSV, with pointers to their values. The seed is text, since it
// may be larger than SQLite's integers.
var columns = []struct {
	name, kind string
	of         func(*Record) any
}{
	{"id", "TEXT", func(r *Record) any { return &r.ID }},
	{"key", "TEXT", func(r *Record) any { return &r.Key }},
	{"kind", "TEXT", func(r *Record) any { return &r.Kind }},
	{"profile", "TEXT", func(r *Record) any { return &r.Profile }},
	{"dataset", "TEXT", func(r *Record) any { return &r.Dataset }},
	{"checksum", "TEXT", func(r *Record) any { return &r.Checksum }},
	{"model", "TEXT", func(r *Record) any { return &r.Model }},
	{"split", "INTEGER", func(r *Record) any { return &r.Split }},
	{"seed", "TEXT", func(r *Record) any { return &r.Seed }},
	{"engine", "TEXT", func(r *Record) any { return &r.Engine }},
	{"started", "TEXT", func(r *Record) any { return &r.Started }},
	{"seconds", "REAL", func(r *Record) any { return &r.Seconds }},
	{"status", "TEXT", func(r *Record) any { return &r.Status }},
	{"message", "TEXT", func(r *Record) any { return &r.Message }},
	{"commit", "TEXT", func(r *Record) any { return &r.Commit }},
	{"platform", "TEXT", func(r *Record) any { return &r.Machine.Platform }},
	{"cpu", "TEXT", func(r *Record) any { return &r.Machine.CPU }},
	{"gpu", "TEXT", func(r *Record) any { return &r.Machine.GPU }},
	{"cores", "INTEGER", func(r *Record) any { return &r.Machine.Cores }},
	{"versions", "TEXT", func(r *Record) any { return &r.Versions }},
	{"config", "TEXT", func(r *Record) any { return &r.Config }},
	{"outcome", "TEXT", func(r *Record) any { return &r.Outcome }},
}

func columnNames() []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.name
	}
	return out
}

// timeLayout is RFC 3339 in UTC with milliseconds: sorted as texts, such times are in order.
const timeLayout = "2006-01-02T15:04:05.000Z"

// cells returns the values of a record that is [Record.prepared], in the order of the columns.
func (r Record) cells() []string {
	r.Versions = maps.Clone(r.Versions)
	for name, value := range r.Machine.besides() {
		if *value != "" {
			if r.Versions == nil {
				r.Versions = map[string]string{}
			}
			r.Versions[name] = *value
		}
	}
	out := make([]string, len(columns))
	for i, c := range columns {
		switch v := c.of(&r).(type) {
		case *string:
			out[i] = *v
		case *float64:
			out[i] = strconv.FormatFloat(*v, 'g', -1, 64)
		case *time.Time:
			out[i] = v.Format(timeLayout)
		case *json.RawMessage:
			out[i] = string(*v)
		case *map[string]string:
			if len(*v) > 0 {
				b, _ := marshal(*v) // cannot fail for a map of strings
				out[i] = string(b)
			}
		case *int:
			out[i] = strconv.Itoa(*v)
		case *uint64:
			out[i] = strconv.FormatUint(*v, 10)
		}
	}
	return out
}

func fromCells(cells []string) (r Record, err error) {
	for i, c := range columns {
		wanted, text := "", cells[i]
		switch v := c.of(&r).(type) {
		case *string:
			*v = text
		case *float64:
			*v, err = strconv.ParseFloat(text, 64)
			wanted = "a number"
		case *time.Time:
			*v, err = time.Parse(time.RFC3339, text)
			wanted = "a time such as 2026-01-02T15:04:05.000Z"
		case *json.RawMessage:
			if text != "" {
				*v = json.RawMessage(text)
			}
		case *map[string]string:
			if text != "" {
				err = json.Unmarshal([]byte(text), v)
				wanted = "a JSON object of texts"
			}
		case *int:
			*v, err = strconv.Atoi(text)
			wanted = "a whole number"
		case *uint64:
			*v, err = strconv.ParseUint(text, 10, 64)
			wanted = "a whole number from 0"
		}
		if err != nil {
			return Record{}, fmt.Errorf("%s is %.60q: it must be %s", c.name, text, wanted)
		}
	}
	for name, value := range r.Machine.besides() {
		if *value = r.Versions[name]; *value != "" {
			delete(r.Versions, name)
		}
	}
	return r, nil
}

// besides has the fields of a machine that are kept in the cell of the versions. They have no columns of their own,
// since earlier versions of revgnn read and check these files, too.
func (m *Machine) besides() map[string]*string {
	return map[string]*string{"processor family": &m.Family, "processor model": &m.Model,
		"processor features": &m.Features}
}
