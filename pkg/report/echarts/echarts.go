// Package echarts finds the file of Apache ECharts, which draws every figure. It is not in the repository; `make setup`
// (kernels/install) downloads it. Only the standard library and pkg/files are imported, so that the installer can use
// the package first.
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
	Version = "5.6.0"

	// SHA256 is that of dist/echarts.min.js, in hexadecimal.
	SHA256 = "bf4a223524e40b77c304bec67e1222cf551f14880cf42c69dc046558e11c07b1"

	// Package is the SHA-512 of the npm package, as in npm's lock files.
	Package = "sha512-oTbVTsXfKuEhxftHqL5xprgLoc0k7uScAwtryCgWF6hPYFLRwOUHiFmHGCBKP5NPFNkDVopOieyUqYGH8Fa3kA=="

	maxBytes = 16 << 20

	// Variable names the environment variable with the path of the library.
	Variable = "REVGNN_ECHARTS"

	// File is where the installer puts it, in the repository.
	File = ".venv/share/revgnn/echarts.min.js"
)

// Path is what REVGNN_ECHARTS names, or .venv/share/revgnn/echarts.min.js in the working directory or above it, or
// above the running program.
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

// CanDraw returns an error if the library cannot be read. Commands ask before they train for hours.
func CanDraw() error {
	if _, err := Source(); err != nil {
		return fmt.Errorf("figures cannot be drawn: %w", err)
	}
	return nil
}

// Source is the library's text, if its hash is right.
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

// Check compares echarts.min.js with the expected version.
func Check(b []byte) error {
	if got := fmt.Sprintf("%x", sha256.Sum256(b)); got != SHA256 {
		return fmt.Errorf("echarts: the file is not echarts.min.js %s: its SHA-256 is %s", Version, got)
	}
	return nil
}

// CheckPackage compares the npm package with the expected version.
func CheckPackage(b []byte) error {
	sum := sha512.Sum512(b)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != Package {
		return fmt.Errorf("echarts: the npm package %s has the integrity %s instead of %s and is not used: "+
			"try another network or registry", Version, got, Package)
	}
	return nil
}

// Integrity is the hash as the HTML attribute "integrity" has it.
func Integrity() string {
	sum, err := hex.DecodeString(SHA256)
	if err != nil {
		panic(err) // this cannot happen unless the constant SHA256 is wrong
	}
	return "sha256-" + base64.StdEncoding.EncodeToString(sum)
}
