package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// tools are Go programs built into .venv/bin.
var tools = []struct{ name, module, version, folder string }{
	{"gonb", "github.com/janpfeifer/gonb", "v0.11.5", "."},
	{"goimports", "golang.org/x/tools", "v0.44.0", "./cmd/goimports"},
}

// modules downloads what go.mod names: cells are compiled with GOPROXY=off.
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

// tools builds the kernel and its helper, each inside its own folder of the module cache: there its own go.sum
// holds, and the proxy is asked for exact versions only, which is all that some proxies serve.
func (p *place) tools() error {
	for _, t := range tools {
		at := t.module + "@" + t.version
		binary := filepath.Join(p.venv, "bin", t.name)
		err := p.once(t.name, at+" "+p.goroot, binary, func() error {
			said, err := output(p.project, "go", "mod", "download", "-json", at)
			if err != nil {
				return fmt.Errorf("downloading %s from the Go module proxy, which must be in reach: %w", at, err)
			}
			var module struct{ Dir string }
			if err := json.Unmarshal([]byte(said), &module); err != nil {
				return err
			}
			// The kernel's go.mod may name an older Go than the one that is to build it; GOFLAGS
			// and GOWORK are the user's.
			return p.run(module.Dir, "env", "GOFLAGS=", "GOWORK=off", "go", "build", "-buildvcs=false", "-trimpath",
				"-o", binary, t.folder)
		})
		if err != nil {
			return fmt.Errorf("building %s: %w", t.name, err)
		}
	}
	return nil
}
