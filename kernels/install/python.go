package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// python makes .venv and installs kernels/requirements.txt into it.
func (p *place) python() error {
	file := filepath.Join(p.project, "kernels", "requirements.txt")
	pins, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	python := filepath.Join(p.venv, "bin", "python")
	if exec.Command(python, "-c", "import pip").Run() != nil {
		system, err := findPython()
		if err != nil {
			return err
		}
		// --clear: a .venv whose Python is gone can't be mended.
		if err := p.run(p.project, system, "-m", "venv", "--clear", p.venv); err != nil {
			return fmt.Errorf("making .venv: %w", err)
		}
	}
	return p.once("jupyter", string(pins), filepath.Join(p.venv, "bin", "jupyter-lab"), func() error {
		if err := p.pip("install", "-r", file); err != nil {
			return fmt.Errorf("installing kernels/requirements.txt from the Python package index, "+
				"which must be in reach: %w", err)
		}
		return nil
	})
}

func (p *place) pip(args ...string) error {
	return p.run(p.project, filepath.Join(p.venv, "bin", "python"),
		append([]string{"-m", "pip", "--quiet", "--disable-pip-version-check"}, args...)...)
}

// findPython looks for a Python that can make .venv: PYTHON, if set, else the usual names.
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
