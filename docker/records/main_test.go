package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// start starts the service with a hub that knows two tokens: that of alice, and that of mallory. The name that the hub
// has for mallory is not safe as the name of a folder.
func start(t *testing.T) (s *service, url string) {
	t.Helper()
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Header.Get("Authorization") {
		case "token alice's":
			w.Write([]byte(`{"kind": "user", "name": "alice"}`))
		case "token mallory's":
			w.Write([]byte(`{"kind": "user", "name": "../alice"}`))
		default:
			http.Error(w, "{}", http.StatusForbidden)
		}
	}))
	t.Cleanup(hub.Close)
	s = &service{hub: hub.URL, dir: t.TempDir()}
	if err := s.open(filepath.Join(t.TempDir(), "all.sqlite")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.store.Close() })
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL
}

func TestAppendOnly(t *testing.T) {
	s, url := start(t)
	committed, err := os.ReadFile("../../data/records/quick.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	// Alice's records are two of those that came with revgnn, with IDs of their own. So their checksums must go.
	sum := regexp.MustCompile(`,"sum":"[0-9a-f]*"`)
	var lines []string
	for _, line := range strings.SplitAfterN(string(committed), "\n", 3)[:2] {
		lines = append(lines, sum.ReplaceAllString(strings.Replace(line, `{"id":"1`, `{"id":"0`, 1), ""))
	}
	changed := strings.Replace(lines[0], `"seconds":`, `"seconds":1`, 1)
	if changed == lines[0] {
		t.Fatal("the record was not changed")
	}
	for _, c := range []struct {
		name, token, body string
		status, files     int
	}{
		{"nobody", "", lines[0], 403, 0},
		{"a forged token", "token forged", lines[0], 403, 0},
		{"a name that leads elsewhere", "token mallory's", lines[0], 403, 0},
		{"no record", "token alice's", "{}\n", 400, 0},
		{"a good and a bad line", "token alice's", lines[0] + "{\n", 400, 0},
		{"those that came with revgnn", "token alice's", string(committed), 200, 0},
		{"a record", "token alice's", lines[0] + string(committed), 200, 1},
		{"the same again", "token alice's", lines[0], 200, 1},
		{"the same run with another outcome", "token alice's", changed, 400, 1},
		{"one more", "token alice's", lines[0] + lines[1], 200, 2},
	} {
		r, _ := http.NewRequest(http.MethodPost, url, strings.NewReader(c.body))
		r.Header.Set("Authorization", c.token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		kept, _ := filepath.Glob(filepath.Join(s.dir, "*", "*"))
		if answer.StatusCode != c.status || len(kept) != c.files {
			t.Errorf("%s: %s, and files %q; want status %d and %d files", c.name, answer.Status, kept, c.status, c.files)
		}
	}
	kept, _ := filepath.Glob(filepath.Join(s.dir, "alice", "*"))
	for i, file := range kept {
		// The service writes checksums, also for records that were sent without.
		text, err := os.ReadFile(file)
		if err != nil || !sum.Match(text) || sum.ReplaceAllString(string(text), "") != lines[i] {
			t.Errorf("file %d has more or less than the new record (%d bytes, %v)", i+1, len(text), err)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut} {
		r, _ := http.NewRequest(method, url, nil)
		r.Header.Set("Authorization", "token alice's")
		if answer, err := http.DefaultClient.Do(r); err != nil || answer.StatusCode != 405 {
			t.Errorf("%s: %v, %v", method, answer, err)
		}
	}
}
