package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// A tool is a Go program that is built from one exact version of a module, and put into .venv/bin. sum is the module's
// checksum, in the form in which go.sum has checksums. folder is the program's folder in the module.
type tool struct{ name, module, version, sum, folder string }

var tools = []tool{
	{"gonb", "github.com/janpfeifer/gonb", "v0.11.5", "h1:38ov1fxbQY74/OQQoNjgeGDaRfyjIEcB+DaFKbw2lDw=", "."},
	{"goimports", "golang.org/x/tools", "v0.44.0", "h1:UP4ajHPIcuMjT1GqzDWRlalUEoY+uzoZKnhOjbIPD2c=", "./cmd/goimports"},
}

// gopls is Go's language server. In notebooks, it completes code and shows documentation. Each kernel that finds gopls
// on its PATH starts a gopls of its own.
var gopls = tool{"gopls", "golang.org/x/tools/gopls", "v0.22.0", "h1:9aON2mTxKrZ1y71RbQVnlPTTNfKZ9y5cv3x/f6XpsZw=", "."}

// modules downloads the modules that go.mod names. They must be downloaded in advance, since the cells of notebooks are
// compiled with GOPROXY=off, which forbids downloads.
func (p *place) modules() error {
	sums, err := os.ReadFile(filepath.Join(p.project, "go.sum"))
	if err != nil {
		return err
	}
	cache, err := output(p.project, "go", "env", "GOMODCACHE")
	if err != nil {
		return err
	}
	return p.once("modules", cache+"\n"+string(sums), cache, func() error {
		if err := p.run(p.project, "go", "mod", "download"); err != nil {
			return fmt.Errorf("downloading the modules in go.mod from the Go module proxy, which must be in reach: %w",
				err)
		}
		return nil
	})
}

// tools builds the Go kernel gonb, and the program goimports, which gonb calls.
func (p *place) tools() error {
	for _, t := range tools {
		if err := p.build(t); err != nil {
			return err
		}
	}
	return nil
}

// completion builds gopls if completion of code is wanted. Otherwise it removes gopls, so that kernels do not start it.
func (p *place) completion(wanted bool) error {
	if wanted {
		return p.build(gopls)
	}
	if err := os.Remove(filepath.Join(p.venv, "bin", gopls.name)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// build downloads the module of a tool and builds the tool. It does so in the module's own folder in the module cache.
// There the module's own go.sum applies, and the module proxy is asked for exact versions only. (Some proxies serve
// only exact versions.)
func (p *place) build(t tool) error {
	at := t.module + "@" + t.version
	binary := filepath.Join(p.venv, "bin", t.name)
	err := p.once(t.name, at+" "+t.sum+" "+p.goroot, binary, func() error {
		said, err := output(p.project, "go", "mod", "download", "-json", at)
		if err != nil {
			return fmt.Errorf("downloading %s from the Go module proxy, which must be in reach: %w", at, err)
		}
		var module struct{ Dir, Sum string }
		if err := json.Unmarshal([]byte(said), &module); err != nil {
			return err
		}
		if module.Sum != t.sum {
			return fmt.Errorf("the sum of %s is %s, want %s: it is not the module that was published; remove it with "+
				"`go clean -modcache` and ask another proxy", at, module.Sum, t.sum)
		}
		// The variables GOFLAGS and GOWORK of the user's environment are not to change this build.
		return p.run(module.Dir, "env", "GOFLAGS=", "GOWORK=off", "go", "build", "-buildvcs=false", "-trimpath",
			"-o", binary, t.folder)
	})
	if err != nil {
		return fmt.Errorf("building %s: %w", t.name, err)
	}
	return nil
}

// warmed lists the packages that the cells of notebooks import. These packages, and the packages that they import in
// turn, are nearly all of the code of a cell's program.
var warmed = []string{"./pkg/report/nb/live", "./pkg/datasets", "./pkg/paper"}

// warm compiles the packages in [warmed] in the same way as for cells. The results are kept in Go's build cache. A
// cell's program then hardly needs more than linking.
func (p *place) warm() error {
	fmt.Fprintln(os.Stderr, "compiling what cells need ...")
	args := append([]string{"GOFLAGS=", "GOPROXY=off", "GOWORK=off", "go", "build"}, warmed...)
	if err := p.run(p.project, "env", args...); err != nil {
		return fmt.Errorf("compiling what cells need: %w", err)
	}
	return nil
}
