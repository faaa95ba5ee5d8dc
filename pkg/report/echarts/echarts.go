// Package echarts finds the file of Apache ECharts, the JavaScript library that draws every figure. The file is not
// part of this repository, and saved notebooks do not contain it. The installer (folder kernels/install) downloads the
// file when a user runs `make setup`.
//
// This package imports only the standard library and pkg/files. So the installer can use this package before anything
// else is installed.
package echarts

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/files"
)

const (
	// Version is the version of ECharts. All figures are drawn and tested with this version.
	Version = "5.6.0"

	// SHA256 is the SHA-256 hash of the file dist/echarts.min.js of this version of ECharts, in hexadecimal.
	SHA256 = "bf4a223524e40b77c304bec67e1222cf551f14880cf42c69dc046558e11c07b1"

	// Package is the SHA-512 hash of the npm package of this version of ECharts, as npm's lock files write it.
	Package = "sha512-oTbVTsXfKuEhxftHqL5xprgLoc0k7uScAwtryCgWF6hPYFLRwOUHiFmHGCBKP5NPFNkDVopOieyUqYGH8Fa3kA=="

	// maxBytes is the largest size, in bytes, of a file that [Source] reads. The library itself has 1 MB.
	maxBytes = 16 << 20

	// Variable is the name of the environment variable with the path of the library. Users may set it. If it is not
	// set, [Path] looks for the library at the path to which the installer copies it.
	Variable = "REVGNN_ECHARTS"

	// File is the path to which the installer copies the library, relative to the root folder of the repository.
	File = ".venv/share/revgnn/echarts.min.js"
)

// Path returns the path of the library. If the environment variable REVGNN_ECHARTS is set, its value is this path.
// Otherwise Path looks for .venv/share/revgnn/echarts.min.js in the working directory and in all folders above it, and
// then in all folders above the running program. If the library is not found, the error says how to install it.
func Path() (string, error) {
	if p := os.Getenv(Variable); p != "" {
		if _, err := os.Stat(p); err != nil {
			return "", fmt.Errorf("echarts: %s names %s, which can't be read (%v): "+
				"correct it, or unset it and run `make setup`", Variable, p, err)
		}
		return p, nil
	}
	for _, start := range []func() (string, error){os.Getwd, os.Executable} {
		if dir, err := start(); err == nil {
			if p, ok := above(dir); ok {
				return p, nil
			}
		}
	}
	return "", fmt.Errorf("echarts: no %s in the working directory or any folder above it: "+
		"run `make setup` in the revgnn checkout, or set %s to an echarts.min.js %s", File, Variable, Version)
}

// above looks for .venv/share/revgnn/echarts.min.js in the folder dir and in all folders above dir. It returns the path
// of the file, and whether the file was found.
func above(dir string) (string, bool) {
	for {
		p := filepath.Join(dir, filepath.FromSlash(File))
		if _, err := os.Stat(p); err == nil {
			return p, true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir = up
	}
}

// CanDraw returns an error if the library cannot be read. Commands call it before they train anything. Otherwise they
// might train for hours, and only then find that they cannot draw the figures.
func CanDraw() error {
	if _, err := Source(); err != nil {
		return fmt.Errorf("figures cannot be drawn: %w", err)
	}
	return nil
}

// Source reads the library and returns its text. It returns an error if the hash of the file is not that of the
// expected version.
func Source() (string, error) {
	p, err := Path()
	if err != nil {
		return "", err
	}
	b, err := files.Read(p, "an echarts.min.js "+Version, maxBytes)
	if err != nil {
		return "", fmt.Errorf("echarts: reading the library: %w", err)
	}
	if err := Check(b); err != nil {
		return "", fmt.Errorf("%w (%s): delete it and run `make setup`", err, p)
	}
	return string(b), nil
}

// Check returns an error unless b is the content of the file echarts.min.js in the expected version.
func Check(b []byte) error {
	if got := fmt.Sprintf("%x", sha256.Sum256(b)); got != SHA256 {
		return fmt.Errorf("echarts: the file is not echarts.min.js %s: its SHA-256 is %s", Version, got)
	}
	return nil
}

// CheckPackage returns an error unless b is the content of ECharts' npm package in the expected version.
func CheckPackage(b []byte) error {
	sum := sha512.Sum512(b)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != Package {
		return fmt.Errorf("echarts: the npm package %s has the integrity %s instead of %s and is not used: "+
			"try another network or registry", Version, got, Package)
	}
	return nil
}

// Integrity returns the SHA-256 hash of the library in the notation of the HTML attribute "integrity". If an element
// that loads a script has this attribute, the browser runs the script only if the script has this hash.
func Integrity() string {
	sum, err := hex.DecodeString(SHA256)
	if err != nil {
		panic(err) // this cannot happen unless the constant SHA256 is wrong
	}
	return "sha256-" + base64.StdEncoding.EncodeToString(sum)
}
