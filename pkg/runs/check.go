package runs

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

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

// Definition returns what the key is computed from. Versions and machine do not belong to it.
func (r Record) Definition() map[string]any {
	return map[string]any{"kind": r.Kind, "dataset": r.Dataset, "checksum": r.Checksum, "model": r.Model,
		"config": r.Config, "split": r.Split, "seed": r.Seed, "engine": r.Engine}
}

// prepared returns the record as it is stored: times in UTC and exact to the millisecond, config and outcome as
// canonical JSON, texts on one line, and a key.
func (r Record) prepared() (Record, error) {
	r.Started = r.Started.UTC().Truncate(time.Millisecond)
	r.Seconds = math.Round(r.Seconds*1000) / 1000
	r.Profile, r.Dataset, r.Model, r.Engine, r.Commit, r.Message = line(r.Profile), line(r.Dataset), line(r.Model),
		line(r.Engine), line(r.Commit), line(r.Message)
	r.Machine.Platform, r.Machine.CPU, r.Machine.GPU = line(r.Machine.Platform), line(r.Machine.CPU),
		line(r.Machine.GPU)
	r.Machine.Family, r.Machine.Model, r.Machine.Features = line(r.Machine.Family), line(r.Machine.Model),
		line(r.Machine.Features)
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
		if r.Key, err = Key(r.Definition()); err != nil {
			return r, err
		}
	}
	return r, r.validate()
}

func (r Record) validate() error {
	switch {
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

// object returns the canonical form of a JSON object, and nil if raw is empty or null.
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
