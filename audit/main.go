// Command audit checks what revgnn is built from and runs with (`make audit`):
//
//   - that the Go modules on this machine are those in go.sum (`go mod verify`);
//   - known vulnerabilities in the Go code that is reached, by govulncheck, where its database can be reached;
//     GOVULNDB names another one, such as a folder as file:///...;
//   - the licences of all modules in go.mod, by the texts of their licence files;
//   - the licences of the Python packages in .venv, by what their metadata say.
//
// It prints a line per finding and per thing that could not be checked. The exit status is 1 where there is a
// finding; what was not checked is none.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A report is what one check found.
type report struct {
	checked   int      // how many things were looked at
	findings  []string // what is wrong
	unchecked []string // what could not be looked at, and why
}

func (r *report) find(format string, args ...any) {
	r.findings = append(r.findings, fmt.Sprintf(format, args...))
}

func (r *report) skip(format string, args ...any) {
	r.unchecked = append(r.unchecked, fmt.Sprintf(format, args...))
}

func main() {
	found := false
	for _, check := range []struct {
		name string
		run  func() report
	}{
		{"sums of Go modules", sums},
		{"vulnerabilities in Go code", vulnerabilities},
		{"licences of Go modules", modules},
		{"licences of Python packages", func() report { return packages(".venv") }},
		{"vulnerabilities in Python and npm packages", func() report {
			return report{unchecked: []string{"no tool for them is part of this"}}
		}},
	} {
		r := check.run()
		fmt.Printf("%s: %d checked, %d findings\n", check.name, r.checked, len(r.findings))
		for _, text := range r.findings {
			fmt.Println("  FOUND:", text)
		}
		for _, text := range r.unchecked {
			fmt.Println("  NOT CHECKED:", text)
		}
		found = found || len(r.findings) > 0
	}
	if found {
		os.Exit(1)
	}
}

// sums compares the modules in the module cache with go.sum.
func sums() (r report) {
	if out, err := exec.Command("go", "mod", "verify").CombinedOutput(); err != nil {
		r.find("go mod verify: %s", strings.TrimSpace(string(out)))
	}
	r.checked = 1
	return r
}

const govulncheck = "golang.org/x/vuln/cmd/govulncheck@v1.3.0"

// foundVulnerabilities is govulncheck's exit status where the code reaches some.
const foundVulnerabilities = 3

// vulnerabilities runs govulncheck.
func vulnerabilities() (r report) {
	dir, err := filepath.Abs("out/audit")
	if err != nil {
		r.skip("%v", err)
		return r
	}
	install := exec.Command("go", "install", govulncheck)
	install.Env = append(os.Environ(), "GOBIN="+dir)
	if out, err := install.CombinedOutput(); err != nil {
		r.skip("%s cannot be had: %s", govulncheck, lastLine(out))
		return r
	}
	args := []string{"./..."}
	if database := os.Getenv("GOVULNDB"); database != "" {
		args = []string{"-db", database, "./..."}
	}
	out, err := exec.Command(filepath.Join(dir, "govulncheck"), args...).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		r.checked = 1
	case errors.As(err, &exit) && exit.ExitCode() == foundVulnerabilities:
		r.checked = 1
		r.find("%s", strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", "\n    "))
	default:
		r.skip("govulncheck did not run: %s", lastLine(out))
	}
	return r
}

func lastLine(out []byte) string {
	text := strings.TrimSpace(string(out))
	return text[strings.LastIndex(text, "\n")+1:]
}
