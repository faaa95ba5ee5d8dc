package results

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

// Commit that the programme was built from, as make tells the linker: a hash, with "-dirty" where files were changed.
var Commit string

// module is the path of revgnn's module.
const module = "github.com/revgnn/revgnn"

// modules whose versions are recorded, by the names they get: those that compute, and revgnn itself.
var modules = map[string]string{
	module:                     "revgnn",
	"github.com/gomlx/gomlx":   "gomlx",
	"github.com/gomlx/compute": "compute",
	"github.com/gomlx/go-xla":  "go-xla",
}

// Versions are those of all that a result depends on, by name: of Go, of the modules that compute, and of revgnn,
// which is its commit where the module has no version.
func Versions() map[string]string {
	versions, _ := built()
	return maps.Clone(versions)
}

// Version is that of revgnn: of the module, as `go install` at a tag has it, else the commit; empty where neither is
// known.
func Version() string { return Versions()["revgnn"] }

// built reads what the programme was built from, once.
var built = sync.OnceValues(func() (versions map[string]string, commit string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return described(info, Commit, fromCheckout)
})

// described are the versions and the commit that a programme tells of itself. What make told the linker comes first.
// The Go tool tells less often than one may think: not in a git worktree, not with GOFLAGS=-buildvcs=false, and not
// for `go run`, tests and the cells of notebooks; for these the checkout is asked.
func described(info *debug.BuildInfo, linked string, checkout func() string) (versions map[string]string,
	commit string) {
	versions = map[string]string{"go": runtime.Version()}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		name := modules[m.Path]
		switch {
		case name == "" || m.Version == "" || m.Version == "(devel)":
		case m.Replace == nil:
			versions[name] = m.Version
		case name != "revgnn": // revgnn in the place of itself is a checkout
			versions[name] = m.Replace.Path + " " + m.Replace.Version
		}
	}
	if commit = linked; commit == "" {
		commit = stamped(info.Settings)
	}
	if commit == "" {
		commit = released(versions["revgnn"])
	}
	if commit == "" {
		commit = checkout()
	}
	if versions["revgnn"] == "" && commit != "" {
		versions["revgnn"] = commit
	}
	return versions, commit
}

// hashLength is that of the commits that records name.
const hashLength = 12

// stamped is the commit that `go build` wrote into a programme.
func stamped(settings []debug.BuildSetting) (commit string) {
	dirty := ""
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(hashLength, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if commit == "" {
		return ""
	}
	return commit + dirty
}

// pseudo is a version that the Go tool makes of a commit: v0.0.0-20261122203419-af5f942a7b34.
var pseudo = regexp.MustCompile(`\d{14}-([0-9a-f]{12})(\+.*)?$`)

// released is the commit of a module's version: that in its name, or the tag.
func released(version string) string {
	if found := pseudo.FindStringSubmatch(version); found != nil {
		return found[1]
	}
	return version
}

// fromCheckout is the commit of the checkout that the programme was built from, where that is still what it was: of
// `go run`, `go test` and a notebook, which build what they start, and of a programme that is newer than the last
// change of commit. Files that differ from the commit by now make it "-dirty".
func fromCheckout() string {
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(file), "..", "..")
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil || !filepath.IsAbs(file) {
		return "" // copies of modules may lie in other checkouts
	}
	git := func(args ...string) string {
		out, _ := exec.Command("git", append([]string{"-C", root}, args...)...).Output() // no git, no commit
		return strings.TrimSpace(string(out))
	}
	self, err := os.Executable()
	if err != nil || !atOnce(self) && !newer(self, git("rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD")) {
		return ""
	}
	return git("describe", "--always", "--dirty", "--abbrev=12")
}

// newer tells whether a file was changed after another one.
func newer(file, than string) bool {
	a, err := os.Stat(file)
	if err != nil {
		return false
	}
	b, err := os.Stat(than)
	return err == nil && a.ModTime().After(b.ModTime())
}

// atOnce tells whether a programme lies where `go run`, `go test` and notebooks put those that they start.
func atOnce(program string) bool {
	folders := []string{os.TempDir(), os.Getenv("GOTMPDIR"), os.Getenv("GOCACHE")}
	if cache, err := os.UserCacheDir(); err == nil {
		folders = append(folders, filepath.Join(cache, "go-build"))
	}
	const temporary = 2 // the first folders hold other things, too
	for i, folder := range folders {
		if folder == "" {
			continue
		}
		if real, err := filepath.EvalSymlinks(folder); err == nil {
			folder = real
		}
		if within, err := filepath.Rel(folder, program); err == nil && filepath.IsLocal(within) &&
			(i >= temporary || strings.HasPrefix(within, "go-build") || strings.HasPrefix(within, "gonb_")) {
			return true
		}
	}
	return false
}
