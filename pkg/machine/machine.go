// Package machine tells what this process runs on: memory that it may use and uses, also within control groups (those
// of containers and of schedulers' jobs on Linux), processor and GPU, versions of the software, and signals to end.
package machine

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// GPUMemory returns the free memory of the first NVIDIA GPU in CUDA_VISIBLE_DEVICES, or of the first one, as nvidia-smi
// tells it, in bytes; 0 if it is not known.
func GPUMemory() int64 {
	args := []string{"--query-gpu=memory.free", "--format=csv,noheader,nounits"}
	if first, _, _ := strings.Cut(os.Getenv("CUDA_VISIBLE_DEVICES"), ","); first != "" {
		args = append(args, "--id="+first) // nvidia-smi does not read the variable itself
	}
	out, err := exec.Command("nvidia-smi", args...).Output()
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	mib, _ := strconv.ParseInt(strings.TrimSpace(first), 10, 64)
	return mib << 20
}

// GPUs are the product names of NVIDIA's GPUs, from files of NVIDIA's driver for Linux.
func GPUs() (models []string) {
	found, _ := filepath.Glob("/proc/driver/nvidia/gpus/*/information")
	for _, path := range found {
		models = append(models, field(path, "Model"))
	}
	return models
}

// GPU is the first of [GPUs], or "".
func GPU() string { return append(GPUs(), "")[0] }

// GPUDriver returns what NVIDIA's driver for Linux says of its version, or "".
func GPUDriver() string {
	b, _ := os.ReadFile("/proc/driver/nvidia/version")
	first, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(strings.TrimPrefix(first, "NVRM version:"))
}

// field returns the first value with the given name in a file of lines "name: value", or "".
func field(path, name string) string {
	b, _ := os.ReadFile(path) // if there is no file, b is empty
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// vector matches the instruction sets for vectors. A processor may have over a hundred others, which do not change the
// last digits of results.
var vector = regexp.MustCompile(`^(v?sse|ssse|avx|fma|f16c|amx|neon|asimd|sve|sme|bf16|i8mm|fphp)`)

func vectors(list string) string {
	sets := slices.DeleteFunc(strings.Fields(strings.ToLower(list)), func(name string) bool {
		return !vector.MatchString(name)
	})
	slices.Sort(sets)
	return strings.Join(slices.Compact(sets), " ")
}

// Bytes returns a number of bytes as text, such as "1.5 GiB"; "unknown" if it is not above 0.
func Bytes(n int64) string {
	const kib, mib, gib = 1 << 10, 1 << 20, 1 << 30
	switch {
	case n <= 0:
		return "unknown"
	case n < mib:
		return fmt.Sprintf("%.0f KiB", float64(n)/kib)
	case n < gib:
		return fmt.Sprintf("%.0f MiB", float64(n)/mib)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/gib)
}

// For less memory than this, Room always returns nil.
const small = 64 << 20

// Room returns an error if less memory is free than the given number of bytes and a quarter of it. Call it before
// allocating what a file asks for: a Go program cannot recover from running out of memory.
func Room(bytes int64) error {
	if bytes < small {
		return nil
	}
	// The quarter is for Go's heap, which grows in steps of 64 MiB, and for threads' stacks.
	if _, free := Memory(); free > 0 && bytes/4 > free-bytes { // a sum could overflow
		return fmt.Errorf("needs %s of memory, but %s are free: make room, or take a machine with more",
			Bytes(bytes), Bytes(free))
	}
	return nil
}

// Commit is that of the build, with "-dirty" if files differed, as make sets it through the linker.
var Commit string

const module = "github.com/revgnn/revgnn"

var modules = map[string]string{
	module:                     "revgnn",
	"github.com/gomlx/gomlx":   "gomlx",
	"github.com/gomlx/compute": "compute",
	"github.com/gomlx/go-xla":  "go-xla",
}

// Versions returns the versions of the software that results depend on: Go, revgnn, and the modules that it computes
// with. If revgnn has no version, the git commit stands in its place.
func Versions() map[string]string {
	versions, _ := Built()
	return versions
}

// Built returns the [Versions], and the git commit that the executable was built from.
func Built() (versions map[string]string, commit string) {
	versions, commit = built()
	return maps.Clone(versions), commit
}

var built = sync.OnceValues(func() (versions map[string]string, commit string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return described(info, Commit, fromCheckout)
})

// described returns versions and commit. The first source that has a commit is used: the linker (make), the Go tool,
// the version of revgnn's module, and then the checkout, since the Go tool records no commit for `go run`, tests and
// notebook cells.
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
	if commit = cmp.Or(linked, stamped(info.Settings), released(versions["revgnn"])); commit == "" {
		commit = checkout()
	}
	if versions["revgnn"] == "" && commit != "" {
		versions["revgnn"] = commit
	}
	return versions, commit
}

const hashLength = 12

// stamped returns the commit that `go build` recorded in the executable.
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

// released returns the commit in the version of a module, or the version itself if it is a tag, such as v0.1.0.
func released(version string) string {
	if found := pseudo.FindStringSubmatch(version); found != nil {
		return found[1]
	}
	return version
}

// fromCheckout asks git for the commit of the checkout, which is right only if the executable was built from it as it
// is: if it was started at once (`go run`, `go test`, a notebook), or built after the checkout last changed to another
// commit. Otherwise it returns "".
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
	if err != nil {
		return ""
	}
	if !atOnce(self) {
		built, err := os.Stat(self)
		changed, unknown := os.Stat(git("rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"))
		if err != nil || unknown != nil || !built.ModTime().After(changed.ModTime()) {
			return ""
		}
	}
	return git("describe", "--always", "--dirty", "--abbrev=12")
}

// atOnce tells whether an executable was built by `go run`, `go test` or a notebook, which build it in a temporary
// folder or in Go's build cache.
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
