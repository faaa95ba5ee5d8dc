package runs

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// sample adds runs whose texts are difficult to write in CSV or JSON.
func sample(t *testing.T, s *Store) {
	t.Helper()
	for i, text := range []string{"", "plain", `"quoted", with comma`, "two\nlines", "ä ∇ 🙂", "  spaces  ", "=1+1",
		"\u2028", `back\slash`, "null"} {
		r := example()
		r.Started = time.UnixMilli(1_700_000_000_000 + int64(i)).UTC()
		r.Seconds = rand.Float64() * math.Pow(10, float64(i-3))
		r.Seed, r.Split = rand.Uint64(), i-1
		r.Profile, r.Message, r.Machine.GPU, r.Commit = text, text, text, text
		r.Kind, r.Status = Kinds[i%len(Kinds)], Statuses[i%len(Statuses)]
		outcome, err := json.Marshal(
			map[string]any{"text": text, "x": rand.NormFloat64(), "tiny": 5e-324, "list": []any{1, nil, 2.5}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Outcome = outcome; i == 0 {
			r.Config, r.Outcome, r.Versions = nil, json.RawMessage("null"), nil
		}
		add(t, s, r)
	}
}

func TestTextRoundTrip(t *testing.T) {
	from := opened(t)
	sample(t, from)
	for _, ext := range []string{".csv", ".jsonl", ".csv.gz", ".jsonl.gz"} {
		dir := t.TempDir()
		first, second := filepath.Join(dir, "first"+ext), filepath.Join(dir, "second"+ext)
		if n, err := from.Export(first, Query{}); err != nil || n != 10 {
			t.Fatalf("exported %d, %v", n, err)
		}
		to := opened(t)
		if added, skipped, err := to.Import(first); err != nil || added != 10 || skipped != 0 {
			t.Fatalf("%s: added %d, skipped %d, %v", ext, added, skipped, err)
		}
		if added, skipped, err := to.Import(first); err != nil || added != 0 || skipped != 10 {
			t.Errorf("%s: again added %d, skipped %d, %v", ext, added, skipped, err)
		}
		if a, b := all(t, from), all(t, to); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: got %+v\nwant %+v", ext, b, a)
		}
		if _, err := to.Export(second, Query{}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(content(t, first), content(t, second)) {
			t.Errorf("%s: exports of equal records differ", ext)
		}
		if n, err := from.Export(second, Query{Status: []string{Diverged}}); err != nil || n != 3 {
			t.Errorf("%s: exported %d, %v", ext, n, err)
		}
	}
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCompressed: nothing is imported from a .gz file that was cut short or is not compressed.
func TestCompressed(t *testing.T) {
	from := opened(t)
	sample(t, from)
	path := filepath.Join(t.TempDir(), "all.jsonl.gz")
	if _, err := from.Export(path, Query{}); err != nil {
		t.Fatal(err)
	}
	whole := content(t, path)
	for want, text := range map[string][]byte{
		"unexpected EOF": whole[:len(whole)-4], "not compressed by gzip": []byte("{}\n")} {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		to := opened(t)
		if _, _, err := to.Import(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
		if n := len(all(t, to)); n != 0 {
			t.Errorf("%s: %d records were kept", want, n)
		}
	}
	for _, name := range []string{"all.gz", "all.jsonl.gz.gz", "all.txt.gz"} {
		if _, err := from.Export(filepath.Join(t.TempDir(), name), Query{}); !errors.As(err, new(*FormatError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestImportRefuses spoils the last line of an export, and imports the export. The import must return an error that
// names this line, and must not add the records of the other lines.
func TestImportRefuses(t *testing.T) {
	from := opened(t)
	sample(t, from)
	dir := t.TempDir()
	text := map[string]string{}
	for _, ext := range []string{".csv", ".jsonl"} {
		path := filepath.Join(dir, "all"+ext)
		if _, err := from.Export(path, Query{}); err != nil {
			t.Fatal(err)
		}
		text[ext] = strings.TrimSuffix(string(content(t, path)), "\n")
	}
	for _, c := range []struct{ ext, old, new, want string }{
		{".jsonl", `{"id":`, `{"id":3,"x":`, "line 10: not a run record"},
		{".jsonl", `{"id":`, `{"ID2":1,"id":`, `line 10: not a run record (json: unknown field "ID2")`},
		{".jsonl", `"kind":"`, `"kind":"x`, `line 10: kind is "x`},
		{".jsonl", `"split":8`, `"split":"8"`, "line 10: not a run record"},
		{".jsonl", `}`, ``, "line 10: not a run record"},
		{".jsonl", `{"id":`, `{} {"id":`, "line 10: not a run record (more than one value)"},
		{".jsonl", `"id":"1`, `"id":"u`, `line 10: id is "u`},
		{".csv", ",8,", ",eight,", `line 11: split is "eight": it must be a whole number`},
		{".csv", "2023-11-14T", "14.11.2023 ", "line 11: started is"},
		{".csv", `"{""hidden`, `"{{""hidden`, "line 11: config is not JSON"},
		{".csv", `,gcn+rep,`, `,gcn+rep`, "line 11"},
		{".csv", `,gcn+rep,`, `,"gcn+rep,`, "line 11"},
		{".csv", "\nnothing", "", ""},
	} {
		lines := strings.SplitAfter(text[c.ext], "\n")
		last := len(lines) - 1
		spoilt := strings.Replace(lines[last], c.old, c.new, 1)
		if c.want != "" && spoilt == lines[last] {
			t.Errorf("%q is not in %s", c.old, lines[last])
		}
		path := filepath.Join(dir, "spoilt"+c.ext)
		if err := os.WriteFile(path, []byte(strings.Join(lines[:last], "")+spoilt), 0o666); err != nil {
			t.Fatal(err)
		}
		to := opened(t)
		_, _, err := to.Import(path)
		if c.want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("the error is %v, want %q", err, c.want)
		}
		if n := len(all(t, to)); n != 0 {
			t.Errorf("%s: %d records were kept", c.want, n)
		}
	}
}

func TestImportOfAnotherRun(t *testing.T) {
	s := opened(t)
	sample(t, s)
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	if _, err := s.Export(path, Query{}); err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(withoutSums(content(t, path)), []byte(`"status":"diverged"`), []byte(`"status":"ok"`), 1)
	if err := os.WriteFile(path, changed, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Import(path); err == nil || !strings.Contains(err.Error(), "line 2: run") ||
		!strings.Contains(err.Error(), "another status") {
		t.Errorf("the error is %v", err)
	}
	for name, want := range map[string]string{"runs.txt": "neither JSON lines nor CSV", "none.csv": "no such file"} {
		if _, _, err := s.Import(filepath.Join(t.TempDir(), name)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

func TestImportNew(t *testing.T) {
	from := opened(t)
	sample(t, from)
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	if _, err := from.Export(path, Query{}); err != nil {
		t.Fatal(err)
	}
	text := content(t, path)
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	to := opened(t)
	if n, _, err := to.ImportNew(path, bytes.NewReader(first), nil); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	full := errors.New("no room for the shared file")
	n, skipped, err := to.ImportNew(path, bytes.NewReader(text), func([]Record) error { return full })
	if !errors.Is(err, full) || n != 0 || skipped != 0 || len(all(t, to)) != 1 {
		t.Errorf("when publish fails: %d added, %d skipped, %d kept (%v)", n, skipped, len(all(t, to)), err)
	}
	var published bytes.Buffer
	for range 2 { // the second time, no record is new, and publish is not called
		if _, _, err = to.ImportNew(path, bytes.NewReader(text), func(fresh []Record) error {
			return WriteLines(&published, fresh)
		}); err != nil {
			t.Error(err)
		}
	}
	if !bytes.Equal(published.Bytes(), rest) {
		t.Errorf("published: %s\nwant the file but for its first line: %s", published.Bytes(), rest)
	}
}

func TestKey(t *testing.T) {
	r := example()
	key := func() string { return Key(r.definition()) }
	want := key()
	r.Config = json.RawMessage(`{"seed": 18446744073709551615, "lr": 0.0050, "hidden":64}`)
	r.Started, r.Status, r.Commit, r.Profile = r.Started.Add(time.Hour), Failed, "c", "paper"
	if key() != want {
		t.Error("the same definition in another spelling, or another outcome, has another key")
	}
	for what, change := range map[string]func(){
		"kind": func() { r.Kind = Bench }, "dataset": func() { r.Dataset = "photo" },
		"checksum": func() { r.Checksum = "" }, "model": func() { r.Model = "gat" },
		"config": func() { r.Config = json.RawMessage(`{"lr": 0.006}`) }, "split": func() { r.Split = 4 },
		"seed": func() { r.Seed = 0 }, "engine": func() { r.Engine = "xla:cpu" },
	} {
		r = example()
		if change(); key() == want {
			t.Errorf("another %s has the same key", what)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	f.Add([]byte(`{"b": [1.50, 1e3, -0, null, "<"], "a": {"x": 18446744073709551615}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := canonical(raw)
		if err != nil {
			return
		}
		if twice, err := canonical(once); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%q becomes %q, and then %q, %v", raw, once, twice, err)
		}
	})
}
