package machine

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

// Commit is the hash of the git commit that the executable was built from, with "-dirty" appended if files differed
// from the commit. The command make sets this variable through the linker. Without make, it is empty.
var Commit string

// module is the path of revgnn's Go module.
const module = "github.com/revgnn/revgnn"

// modules has the Go modules whose versions are recorded: revgnn, and the modules that revgnn computes with. A key is
// the path of a module. The value is the name of this module in records.
var modules = map[string]string{
	module:                     "revgnn",
	"github.com/gomlx/gomlx":   "gomlx",
	"github.com/gomlx/compute": "compute",
	"github.com/gomlx/go-xla":  "go-xla",
}

// Versions returns the versions of the software that results depend on: Go, revgnn, and the Go modules that revgnn
// computes with, such as GoMLX. The keys of the map are the names of the software. If revgnn's module has no version,
// the git commit of revgnn stands in place of the version.
func Versions() map[string]string {
	versions, _ := Built()
	return versions
}

// Built returns the [Versions], and the git commit that the executable was built from.
func Built() (versions map[string]string, commit string) {
	versions, commit = built()
	return maps.Clone(versions), commit
}

// Version returns the version of revgnn's module. A module that `go install` has installed from a tag has a version. If
// there is no version, Version returns the git commit. If the commit is not known either, Version returns an empty
// text.
func Version() string { return Versions()["revgnn"] }

// built returns the versions of the software in the executable, and the git commit that the executable was built from.
// The first call determines these values. Later calls return the same values.
var built = sync.OnceValues(func() (versions map[string]string, commit string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return described(info, Commit, fromCheckout)
})

// described returns the versions of the software in the executable, and the git commit of revgnn. There are four
// sources for the commit. The first one that has a commit is used:
//
//  1. the argument linked, which is the commit that make passed to the linker
//  2. the commit that the Go tool has recorded in the executable
//  3. the commit in the version of revgnn's module
//  4. the function checkout, which asks git for the commit of the source code
//
// The fourth source is needed since the Go tool does not record a commit for `go run`, tests and notebook cells.
func described(info *debug.BuildInfo, linked string, checkout func() string) (versions map[string]string,
	commit string) {
	versions = map[string]string{"go": runtime.Version()}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		name := modules[m.Path]
		switch {
		case name == "" || m.Version == "" || m.Version == "(devel)":
		case m.Replace == nil:
			versions[name] = m.Version
		case name != "revgnn": // go.mod replaces revgnn by a checkout, which has no version
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

// stamped returns the commit that `go build` recorded in the executable; empty if it recorded none.
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

// pseudo matches a version that the Go tool makes from a commit, such as v0.0.0-20261122203419-af5f942a7b34.
var pseudo = regexp.MustCompile(`\d{14}-([0-9a-f]{12})(\+.*)?$`)

// released returns the commit that the version of a module contains: af5f942a7b34 for the version
// v0.0.0-20261122203419-af5f942a7b34. A version that contains no commit is the name of a git tag, such as v0.1.0.
// released returns such a version as it is.
func released(version string) string {
	if found := pseudo.FindStringSubmatch(version); found != nil {
		return found[1]
	}
	return version
}

// fromCheckout asks git for the current commit of the checkout that the executable was built from. It appends "-dirty"
// if files differ from the commit. The current commit is the right answer only if the checkout has had the same commit
// since the build. fromCheckout relies on this in two cases. In the first case, `go run`, `go test` or a notebook built
// the executable, and started it at once. In the second case, the executable was built after the checkout last changed
// to another commit. In all other cases, the result is empty.
func fromCheckout() string {
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(file), "..", "..")
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil || !filepath.IsAbs(file) {
		return "" // without .git, the checkout that git finds may be that of another project
	}
	git := func(args ...string) string {
		out, _ := exec.Command("git", append([]string{"-C", root}, args...)...).Output() // empty if there is no git
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

// atOnce tells whether an executable was built by `go run`, `go test` or a notebook, which start it at once. They build
// it in a temporary folder or in Go's build cache. atOnce recognises these folders.
func atOnce(program string) bool {
	folders := []string{os.TempDir(), os.Getenv("GOTMPDIR"), os.Getenv("GOCACHE")}
	if cache, err := os.UserCacheDir(); err == nil {
		folders = append(folders, filepath.Join(cache, "go-build"))
	}
	const temporary = 2 // in the first two folders there may be other executables: the name is checked, too
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
