package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

type place struct {
	project string // the checkout
	venv    string // .venv in it
	share   string // the folder of revgnn's own files in .venv
	goroot  string // the root folder of the Go that compiles cells
}

func newPlace() (*place, error) {
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
	return &place{project: project, venv: venv, share: filepath.Join(venv, "share", "revgnn"), goroot: goroot}, nil
}

// once calls do, unless the step is recorded with the same key and its product exists.
func (p *place) once(name, key, product string, do func() error) error {
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
func (p *place) run(dir, name string, args ...string) error {
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
