// Command install installs everything that the notebooks need. It leaves out what an earlier call has installed:
//
//	go run ./kernels/install            # installs into .venv of this checkout
//	go run ./kernels/install -user      # also installs the kernel for every Jupyter of this user
//	go run ./kernels/install -system    # also installs the kernel for every user of this machine
//	go run ./kernels/install -gopls=false    # leaves out completion and help in cells: for a hub with little memory
//	go run ./kernels/install -warm      # also compiles what a first cell needs into Go's build cache: for images
//
// The command needs Go, and Python 3.10 or newer with the module venv. The first call needs access to package
// registries. Only -system needs root. The environment variable PYTHON may name the Python to use. The command
// installs:
//
//   - .venv, a Python environment with JupyterLab and with the packages that execute and export notebooks (they are
//     listed in kernels/jupyter.lock);
//   - .venv/bin/gonb, the Go kernel, and .venv/bin/goimports, which gonb calls;
//   - .venv/bin/gopls, which completes code (Tab) and shows documentation (Shift-Tab); each kernel starts a gopls of
//     its own, which takes 0.6 to 1.2 GB of memory;
//   - .venv/share/revgnn/echarts.min.js, the library ECharts, which draws figures (package echarts);
//   - .venv/share/jupyter/kernels/revgnn, the kernel spec, which is made from kernels/kernel.json, and a copy of
//     ECharts for the pages that the notebook server shows;
//   - the modules in go.mod, since cells are compiled without a network.
//
// The kernel spec sets environment variables for cells. GLIBC_TUNABLES has settings of the memory allocator that
// suit XLA; `-env GLIBC_TUNABLES=` leaves the allocator as it is. GOFLAGS has the effect that cells are compiled
// without debug information, which halves the time to link them.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	user := flag.Bool("user", false, "also install the kernel for every Jupyter of this user")
	system := flag.Bool("system", false, "also install the kernel for every user of this machine")
	completion := flag.Bool("gopls", true, "completion and help in cells by gopls; `-gopls=false` leaves it out, and "+
		"saves 0.6 to 1.2 GB of memory for each open notebook")
	warm := flag.Bool("warm", false, "also compile what a first cell needs into Go's build cache (GOCACHE), so that it "+
		"starts in seconds")
	env := variables{}
	flag.Var(env, "env", "a `NAME=VALUE` to set in every notebook, such as PJRT_PLUGIN_LIBRARY_PATH=...; "+
		"may be repeated")
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

// variables collects -env flags.
type variables map[string]string

func (v variables) String() string { return "" }

func (v variables) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return fmt.Errorf("want NAME=VALUE")
	}
	v[name] = value
	return nil
}

func install(env variables, user, system, completion, warm bool) error {
	start := time.Now()
	p, err := newPlace()
	if err != nil {
		return err
	}
	gopls := func() error { return p.completion(completion) }
	for _, step := range []func() error{p.python, p.modules, p.tools, gopls, p.echarts} {
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
	if warm {
		if err := p.warm(); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "notebooks are ready: %s (%.1f s)\n", spec, time.Since(start).Seconds())
	return nil
}
