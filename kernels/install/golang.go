package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// A tool is a Go program, built from one version of a module into .venv/bin; sum is as in go.sum.
type tool struct{ name, module, version, sum, folder string }

var tools = []tool{
	{"gonb", "github.com/janpfeifer/gonb", "v0.11.5", "h1:38ov1fxbQY74/OQQoNjgeGDaRfyjIEcB+DaFKbw2lDw=", "."},
	{"goimports", "golang.org/x/tools", "v0.44.0", "h1:UP4ajHPIcuMjT1GqzDWRlalUEoY+uzoZKnhOjbIPD2c=", "./cmd/goimports"},
}

// gopls, Go's language server, completes code in notebooks; each kernel that finds it starts one.
var gopls = tool{"gopls", "golang.org/x/tools/gopls", "v0.22.0", "h1:9aON2mTxKrZ1y71RbQVnlPTTNfKZ9y5cv3x/f6XpsZw=", "."}

// modules downloads go.mod's modules: cells are compiled with GOPROXY=off.
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

// tools builds the kernel gonb, and goimports, which it calls.
func (p *place) tools() error {
	for _, t := range tools {
		if err := p.build(t); err != nil {
			return err
		}
	}
	return nil
}

// completion builds gopls, or removes it.
func (p *place) completion(wanted bool) error {
	if wanted {
		return p.build(gopls)
	}
	if err := os.Remove(filepath.Join(p.venv, "bin", gopls.name)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// build builds a tool in its folder of the module cache, where its own go.sum applies and the proxy is asked for exact
// versions only.
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

// warmed are what cells import, nearly all of a cell's program.
var warmed = []string{"./pkg/report/nb/live", "./pkg/datasets", "./pkg/paper"}

// warm compiles [warmed] as for cells, which then hardly need more than linking.
func (p *place) warm() error {
	fmt.Fprintln(os.Stderr, "compiling what cells need ...")
	args := append([]string{"GOFLAGS=", "GOPROXY=off", "GOWORK=off", "go", "build"}, warmed...)
	if err := p.run(p.project, "env", args...); err != nil {
		return fmt.Errorf("compiling what cells need: %w", err)
	}
	return nil
}
