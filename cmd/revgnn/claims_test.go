package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/paper"
)

// TestClaims calls the command claims, which judges the paper's claims by the committed run records. No new runs are
// made.
func TestClaims(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.sqlite")
	var stdout, stderr bytes.Buffer
	if code := run([]string{"claims", "--json", "--offline", "--runs", file}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	var card paper.Scorecard
	if err := json.Unmarshal(stdout.Bytes(), &card); err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, j := range card.Claims {
		if j.Verdict != paper.NotRun {
			judged++
			if len(j.Records) == 0 || j.Numbers == "" || j.Where == "" {
				t.Errorf("got %+v", j)
			}
		}
	}
	if card.Profile != "quick" || judged < 100 || judged+card.Counts[paper.NotRun] != len(card.Claims) {
		t.Errorf("profile %s, %d verdicts, %v", card.Profile, judged, card.Counts)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"table5/cora"}, 0, "2708 nodes, 5278 edges"},
		{[]string{"--profile", "paper", "table5/cora"}, 0, "At the profile paper"},
		{[]string{"table9"}, 2, `no claim has an ID that begins with "table9"`},
		{[]string{"--profile", "slow"}, 2, `unknown profile "slow"`},
	} {
		stdout.Reset()
		stderr.Reset()
		code := run(append([]string{"claims", "--runs", file}, c.args...), &stdout, &stderr)
		if code != c.code || !strings.Contains(stdout.String()+stderr.String(), c.want) {
			t.Errorf("%v: exit %d, %q, %q; want %q", c.args, code, stdout.String(), stderr.String(), c.want)
		}
	}
}
