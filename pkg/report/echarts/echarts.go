// Package echarts finds the file of Apache ECharts, the JavaScript library that draws every figure. The file is not
// stored in this repository and not in saved notebooks: `make setup` installs it (see kernels/install).
//
// This package imports only the standard library and package files. So the installer can use it before anything else is
// installed.
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
	// Version is the version of ECharts that all figures are drawn and tested with.
	Version = "5.6.0"

	// SHA256 is the hash of the file dist/echarts.min.js of this version, in hexadecimal.
	SHA256 = "bf4a223524e40b77c304bec67e1222cf551f14880cf42c69dc046558e11c07b1"

	// Package is the integrity hash of the npm package of this version, in the notation of npm's lock files.
	Package = "sha512-oTbVTsXfKuEhxftHqL5xprgLoc0k7uScAwtryCgWF6hPYFLRwOUHiFmHGCBKP5NPFNkDVopOieyUqYGH8Fa3kA=="

	// maxBytes is the largest size, in bytes, of a file that [Source] reads. The library itself has 1 MB.
	maxBytes = 16 << 20

	// Variable is the name of the environment variable that holds the path of the library. If the variable is not set,
	// [Path] looks for the library at File.
	Variable = "REVGNN_ECHARTS"

	// File is the path to which the installer copies the library, relative to the root folder of the repository.
	File = ".venv/share/revgnn/echarts.min.js"
)

// Path returns the path of the library. This is the value of the environment variable REVGNN_ECHARTS, if it is set.
// Otherwise Path looks for File in the working directory and in all folders above it, and then in all folders above the
// running program. If the library is not found, the error says how to install it.
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

// above looks for File in dir and in all folders above dir.
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

// Integrity returns SHA256 in the notation of the HTML attribute "integrity". A browser compares the hash of a script
// that it loads with this attribute.
func Integrity() string {
	sum, err := hex.DecodeString(SHA256)
	if err != nil {
		panic(err) // this cannot happen unless the constant SHA256 is wrong
	}
	return "sha256-" + base64.StdEncoding.EncodeToString(sum)
}
