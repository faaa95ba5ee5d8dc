package machine

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// TestDescribed checks which version and which commit are recorded for an executable, for each way to build it.
func TestDescribed(t *testing.T) {
	main := func(version string) debug.Module { return debug.Module{Path: module, Version: version} }
	stamp := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"},
		{Key: "vcs.modified", Value: "true"}}
	const commit, changed = "af5f942a7b34", "0123456789ab-dirty"
	for name, c := range map[string]struct {
		info                     debug.BuildInfo
		linked, checkout         string
		wantVersion, wantCommits string
	}{
		"make build": {debug.BuildInfo{Main: main("(devel)")}, commit, "other", commit, commit},
		"go build":   {debug.BuildInfo{Main: main("(devel)"), Settings: stamp}, "", "other", changed, changed},
		"go install at a tag": {debug.BuildInfo{Main: main("v1.2.3")}, "", "",
			"v1.2.3", "v1.2.3"},
		"go install at a commit": {debug.BuildInfo{Main: main("v0.0.0-20261122203419-" + commit)}, "", "",
			"v0.0.0-20261122203419-" + commit, commit},
		"go run": {debug.BuildInfo{Main: main("(devel)")}, "", commit + "-dirty", commit + "-dirty",
			commit + "-dirty"},
		"a notebook's cell": {debug.BuildInfo{Main: debug.Module{Path: "gonb", Version: "(devel)"},
			Deps: []*debug.Module{{Path: module, Version: "(devel)"}}}, "", commit, commit, commit},
		"another program": {debug.BuildInfo{Main: debug.Module{Path: "example.com/own", Version: "v9.9.9"},
			Deps: []*debug.Module{{Path: module, Version: "v1.2.3"}}}, "", "", "v1.2.3", "v1.2.3"},
		"nothing known": {debug.BuildInfo{Main: main("(devel)")}, "", "", "", ""},
	} {
		versions, got := described(&c.info, c.linked, func() string { return c.checkout })
		if versions["revgnn"] != c.wantVersion || got != c.wantCommits {
			t.Errorf("%s: version %q and commit %q, want %q and %q", name, versions["revgnn"], got, c.wantVersion,
				c.wantCommits)
		}
	}
}

// TestOwnCommit: a record that is made in a test has the commit of this checkout. The Go tool records no commit in the
// executable of a test. Therefore Built asks git for the commit.
func TestOwnCommit(t *testing.T) {
	if _, err := os.Stat("../../.git"); err != nil {
		t.Skip("this is no checkout")
	}
	want, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		t.Skip("no git here")
	}
	versions, commit := Built()
	if got := strings.TrimSuffix(commit, "-dirty"); !strings.HasSuffix(got, strings.TrimSpace(string(want))) {
		t.Errorf("the record has the commit %q, want %s", commit, want)
	}
	if versions["revgnn"] == "" || versions["revgnn"] == "(devel)" {
		t.Errorf("its versions are %v", versions)
	}
	started, built := filepath.Join(os.TempDir(), "go-build1", "b001", "exe", "revgnn"), filepath.Join(t.TempDir(), "revgnn")
	if !atOnce(started) || atOnce(built) || atOnce("/usr/local/bin/revgnn") {
		t.Error("programs are taken for what they are not")
	}
}
