package runs

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"
)

// columns are the columns of a record in SQLite and in CSV. The seed is text, since it may be larger than SQLite's
// integers.
var columns = []struct{ name, kind string }{
	{"id", "TEXT"}, {"key", "TEXT"}, {"kind", "TEXT"}, {"profile", "TEXT"}, {"dataset", "TEXT"}, {"checksum", "TEXT"},
	{"model", "TEXT"}, {"split", "INTEGER"}, {"seed", "TEXT"}, {"engine", "TEXT"}, {"started", "TEXT"},
	{"seconds", "REAL"}, {"status", "TEXT"}, {"message", "TEXT"}, {"commit", "TEXT"}, {"platform", "TEXT"},
	{"cpu", "TEXT"}, {"gpu", "TEXT"}, {"cores", "INTEGER"},
	{"versions", "TEXT"}, {"config", "TEXT"}, {"outcome", "TEXT"},
}

func columnNames() []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.name
	}
	return out
}

// columnList quotes the names for SQL, since one of them, commit, is a keyword.
func columnList() string { return `"` + strings.Join(columnNames(), `", "`) + `"` }

// timeLayout is RFC 3339 in UTC with milliseconds: sorted as texts, such times are in order.
const timeLayout = "2006-01-02T15:04:05.000Z"

// cells returns the values of a record that is [Record.prepared], in the order of the columns.
func (r Record) cells() []string {
	versions := ""
	all := maps.Clone(r.Versions)
	for name, value := range r.Machine.besides() {
		if *value != "" {
			if all == nil {
				all = map[string]string{}
			}
			all[name] = *value
		}
	}
	if len(all) > 0 {
		b, _ := marshal(all) // cannot fail for a map of strings
		versions = string(b)
	}
	return []string{r.ID, r.Key, r.Kind, r.Profile, r.Dataset, r.Checksum, r.Model,
		strconv.Itoa(r.Split), strconv.FormatUint(r.Seed, 10), r.Engine, r.Started.Format(timeLayout),
		strconv.FormatFloat(r.Seconds, 'g', -1, 64), r.Status, r.Message, r.Commit, r.Machine.Platform,
		r.Machine.CPU, r.Machine.GPU, strconv.Itoa(r.Machine.Cores), versions, string(r.Config), string(r.Outcome)}
}

func fromCells(cells []string) (Record, error) {
	p := cellParser{cells: cells}
	r := Record{ID: p.text(), Key: p.text(), Kind: p.text(), Profile: p.text(), Dataset: p.text(), Checksum: p.text(),
		Model: p.text(), Split: p.integer(), Seed: p.seed(), Engine: p.text(), Started: p.time(), Seconds: p.real(),
		Status: p.text(), Message: p.text(), Commit: p.text(), Machine: Machine{Platform: p.text(), CPU: p.text(),
			GPU: p.text(), Cores: p.integer()}, Versions: p.versions(), Config: p.raw(), Outcome: p.raw()}
	if p.err != nil {
		return Record{}, p.err
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

// cellParser parses one cell after the other, and keeps the first error.
type cellParser struct {
	cells []string
	at    int
	err   error
}

func (p *cellParser) text() string {
	p.at++
	return p.cells[p.at-1]
}

// fail keeps the error of the cell that was parsed last; wanted describes a correct cell.
func (p *cellParser) fail(err error, wanted string) {
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("%s is %.60q: it must be %s", columns[p.at-1].name, p.cells[p.at-1], wanted)
	}
}

func (p *cellParser) integer() int {
	n, err := strconv.Atoi(p.text())
	p.fail(err, "a whole number")
	return n
}

func (p *cellParser) seed() uint64 {
	n, err := strconv.ParseUint(p.text(), 10, 64)
	p.fail(err, "a whole number from 0")
	return n
}

func (p *cellParser) real() float64 {
	v, err := strconv.ParseFloat(p.text(), 64)
	p.fail(err, "a number")
	return v
}

func (p *cellParser) time() time.Time {
	t, err := time.Parse(time.RFC3339, p.text())
	p.fail(err, "a time such as 2026-01-02T15:04:05.000Z")
	return t
}

func (p *cellParser) raw() json.RawMessage {
	if text := p.text(); text != "" {
		return json.RawMessage(text)
	}
	return nil
}

func (p *cellParser) versions() (out map[string]string) {
	if text := p.text(); text != "" {
		p.fail(json.Unmarshal([]byte(text), &out), "a JSON object of texts")
	}
	return out
}
