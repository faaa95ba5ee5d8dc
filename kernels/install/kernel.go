package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"text/template"

	"github.com/revgnn/revgnn/pkg/report/echarts"
)

// kernel writes the spec by which Jupyter starts the Go kernel, each time, since it has the checkout's path, and
// returns its folder. env adds variables.
func (p *place) kernel(env map[string]string) (string, error) {
	const source = "kernels/kernel.json"
	t, err := template.New("kernel.json").ParseFiles(filepath.Join(p.project, filepath.FromSlash(source)))
	if err != nil {
		return "", err
	}
	library := filepath.Join(p.project, filepath.FromSlash(echarts.File))
	var spec bytes.Buffer
	err = t.Execute(&spec, map[string]any{
		"Project": p.project, "Venv": p.venv, "GoBin": filepath.Join(p.goroot, "bin"), "ECharts": library, "Env": env,
	})
	if err != nil {
		return "", err
	}
	if !json.Valid(spec.Bytes()) {
		return "", fmt.Errorf("%s with this checkout's path and variables is not valid JSON: "+
			"avoid quotes and backslashes in them", source)
	}
	dir := filepath.Join(p.venv, "share", "jupyter", "kernels", "revgnn")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "kernel.json"), spec.Bytes(), 0o644); err != nil {
		return "", err
	}
	// Pages of a Jupyter server load ECharts from here; see report.KernelFile.
	script, err := os.ReadFile(library)
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, filepath.Base(library)), script, 0o644)
}
