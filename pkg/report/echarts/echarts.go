// Package echarts finds Apache ECharts, the charting library that draws every figure. ECharts is an installed
// dependency. It is not part of this repository, nor of a saved notebook.
//
// `make setup` installs it (see kernels/install). This package depends only on the standard library and package files,
// so that the installer can use it before anything else is installed.
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
	// Version of the library that all figures are drawn and tested with.
	Version = "5.6.0"

	// SHA256 of that version's dist/echarts.min.js, in hexadecimal.
	SHA256 = "bf4a223524e40b77c304bec67e1222cf551f14880cf42c69dc046558e11c07b1"

	// Package is the integrity hash of that version's npm package, in the notation of npm's lock files.
	Package = "sha512-oTbVTsXfKuEhxftHqL5xprgLoc0k7uScAwtryCgWF6hPYFLRwOUHiFmHGCBKP5NPFNkDVopOieyUqYGH8Fa3kA=="

	// maxBytes bounds the size of the file that is read as the library; the library has 1 MB.
	maxBytes = 16 << 20

	// Variable names the environment variable with the library's path. Without it, the library is looked for at File.
	Variable = "REVGNN_ECHARTS"

	// File is the path, from the top of the checkout, to which the installer copies the library.
	File = ".venv/share/revgnn/echarts.min.js"
)

// Path is the library's path: the file that REVGNN_ECHARTS names, else File in the working directory or the nearest
// folder above it, else File in a folder above the running program. The error says how to install the library.
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

// above looks for File in dir and in the folders above it.
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

// Source reads the library and checks that it is the expected version, byte for byte.
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

// Check returns an error unless b is echarts.min.js in the expected version.
func Check(b []byte) error {
	if got := fmt.Sprintf("%x", sha256.Sum256(b)); got != SHA256 {
		return fmt.Errorf("echarts: the file is not echarts.min.js %s: its SHA-256 is %s", Version, got)
	}
	return nil
}

// CheckPackage returns an error unless b is the npm package in the expected version.
func CheckPackage(b []byte) error {
	sum := sha512.Sum512(b)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != Package {
		return fmt.Errorf("echarts: the npm package %s has the integrity %s instead of %s and is not used: "+
			"try another network or registry", Version, got, Package)
	}
	return nil
}

// Integrity is SHA256 in the notation of the HTML attribute "integrity", with which browsers check a script that they
// fetch.
func Integrity() string {
	sum, err := hex.DecodeString(SHA256)
	if err != nil {
		panic(err) // the constant above is not hexadecimal
	}
	return "sha256-" + base64.StdEncoding.EncodeToString(sum)
}
