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

// Commit is the commit that the programme was built from, as make passes it to the linker: a hash, with "-dirty" where
// files had changed.
var Commit string

// module is the path of revgnn's module.
const module = "github.com/revgnn/revgnn"

// modules are the modules whose versions are recorded, with their names in records: those that compute, and revgnn
// itself.
var modules = map[string]string{
	module:                     "revgnn",
	"github.com/gomlx/gomlx":   "gomlx",
	"github.com/gomlx/compute": "compute",
	"github.com/gomlx/go-xla":  "go-xla",
}

// Versions are the versions of everything that a result depends on, by name: Go, the modules that compute, and revgnn
// (its commit where the module has no version).
func Versions() map[string]string {
	versions, _ := built()
	return maps.Clone(versions)
}

// Version is revgnn's version: the version of the module if it has one, as after `go install` of a tag, else the
// commit, and empty if neither is known.
func Version() string { return Versions()["revgnn"] }

// built finds out, once, what the programme was built from.
var built = sync.OnceValues(func() (versions map[string]string, commit string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return described(info, Commit, fromCheckout)
})

// described are the versions and the commit recorded in the programme. What make passed to the linker comes first. The
// Go tool records a commit less often than one may expect: not in a git worktree, not with GOFLAGS=-buildvcs=false,
// and not for `go run`, tests and notebook cells; there, the checkout's commit is used.
func described(info *debug.BuildInfo, linked string, checkout func() string) (versions map[string]string,
	commit string) {
	versions = map[string]string{"go": runtime.Version()}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		name := modules[m.Path]
		switch {
		case name == "" || m.Version == "" || m.Version == "(devel)":
		case m.Replace == nil:
			versions[name] = m.Version
		case name != "revgnn": // a module that replaces revgnn by itself is a checkout
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

// hashLength is the length of the commit hashes in records.
const hashLength = 12

// stamped is the commit that `go build` recorded in a programme.
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

// pseudo matches a version that the Go tool makes of a commit: v0.0.0-20261122203419-af5f942a7b34.
var pseudo = regexp.MustCompile(`\d{14}-([0-9a-f]{12})(\+.*)?$`)

// released is the commit of a module's version: the one in its name, or the tag.
func released(version string) string {
	if found := pseudo.FindStringSubmatch(version); found != nil {
		return found[1]
	}
	return version
}

// fromCheckout is the commit of the checkout that the programme was built from, if that cannot have changed since: for
// `go run`, `go test` and notebooks, which build what they start, and for a programme newer than the checkout's last
// change of commit. Files that differ from the commit make it "-dirty".
func fromCheckout() string {
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(file), "..", "..")
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil || !filepath.IsAbs(file) {
		return "" // a copy of the module may lie in another project's checkout
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

// newer tells whether a file was changed later than another one.
func newer(file, than string) bool {
	a, err := os.Stat(file)
	if err != nil {
		return false
	}
	b, err := os.Stat(than)
	return err == nil && a.ModTime().After(b.ModTime())
}

// atOnce tells whether a programme lies in a folder of `go run`, `go test` or a notebook.
func atOnce(program string) bool {
	folders := []string{os.TempDir(), os.Getenv("GOTMPDIR"), os.Getenv("GOCACHE")}
	if cache, err := os.UserCacheDir(); err == nil {
		folders = append(folders, filepath.Join(cache, "go-build"))
	}
	const temporary = 2 // a path of fewer folders may hold other programmes
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
