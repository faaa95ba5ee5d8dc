package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// lockedFile is a lock file. It lists all Python packages that notebooks need, with their versions and the hashes of
// their wheels.
const lockedFile = "kernels/jupyter.lock"

// python makes .venv and installs the packages in lockedFile into it.
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
		// If there is a folder .venv, its Python does not work. The option --clear removes what is in this folder.
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

// pip installs the packages in a lock file. It accepts only wheels, and only if their hash is in the lock file.
// (Packages that are not wheels must be built. This would run their code, and might need packages that are in no lock
// file.)
func (p *place) pip(locked string, options ...string) error {
	return p.run(p.project, filepath.Join(p.venv, "bin", "python"), slices.Concat(
		[]string{"-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--require-hashes", "--only-binary=:all:",
			"-r", locked}, options)...)
}

// findPython looks for a Python that can make .venv. It tries the program that the environment variable PYTHON names.
// If PYTHON is not set, it tries programs with the usual names, such as python3.
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
