package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// lockedFile locks all Python packages of notebooks.
const lockedFile = "kernels/jupyter.lock"

func (p *place) python() error {
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
func (p *place) pip(locked string, options ...string) error {
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
