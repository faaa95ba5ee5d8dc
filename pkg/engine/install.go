package engine

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gomlx/go-xla/compute/xla"
)

// The XLA CPU plugin comes from a wheel on PyPI, since some machines reach only package registries; wheelMember is its
// path inside.
const wheel, wheelVersion, wheelMember = "xla-cpu-pjrt", "0.0.1", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"

var wheelSums = map[string]string{
	"linux/amd64": "55837b6b7b47daa717f2d9a5a03563ea0ceaa338d06a81a1e2d3f060d960decc",
	"linux/arm64": "8f613be6e891858f40d64f9799319502fff42689661944fc18a6ffd8210b30c9",
}

// Kinds are the plugins that [Install] knows.
var Kinds = []string{"cpu", "cuda", "cuda12", "cuda13"}

// Install installs XLA's plugin in [pluginDir], unless it is there, and returns its path: "cpu", "cuda", or for a GPU
// that is not in this machine "cuda12" or "cuda13". log gets a line for each step. Wheels are verified by their
// SHA-256. A new plugin that cannot be loaded is removed.
func Install(ctx context.Context, kind string, log func(string)) (string, error) {
	named, kind := kind, strings.TrimRight(kind, "0123456789")
	if !slices.Contains(Kinds, named) {
		return "", fmt.Errorf("unknown plugin %q: choose one of %s", named, strings.Join(Kinds, ", "))
	}
	if path := Plugins()[kind]; path != "" && named == kind {
		log(fmt.Sprintf("the XLA %s plugin is installed: %s", kind, path))
		return path, nil
	}
	dir, err := pluginDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("the plugin folder cannot be made: %w; set HOME to a folder you may write to", err)
	}
	log(fmt.Sprintf("installing the XLA %s plugin in %s", kind, dir))
	if kind == "cuda" {
		err = installCUDA(ctx, named, dir, log)
	} else {
		err = fromWheel(ctx, dir)
	}
	if err != nil {
		return "", fmt.Errorf("the XLA %s plugin could not be installed: %w; "+
			"the pure-Go engine (--engine go) works without", kind, err)
	}
	plugins, err := installed()
	if err != nil {
		return "", fmt.Errorf("the XLA %s plugin was installed in %s, but no plugin can be used: %w", kind, dir, err)
	}
	path := plugins[kind]
	if path == "" {
		return "", fmt.Errorf("the XLA %s plugin was installed in %s, but PJRT_PLUGIN_LIBRARY_PATH hides it: "+
			"unset that, or copy the plugin there", kind, dir)
	}
	if kind == "cuda" && !HasGPU() {
		log("installed " + path + "; this machine has no NVIDIA GPU to try it on")
		return path, nil
	}
	backend, err := xla.New(map[string]string{"cpu": "cpu", "cuda": path}[kind])
	if err != nil {
		if os.Remove(path); kind == "cuda" {
			os.RemoveAll(filepath.Join(dir, "cuda"))
		}
		return "", fmt.Errorf("the XLA %s plugin that was installed does not load on this machine and was removed: %w",
			kind, err)
	}
	backend.Finalize()
	log("installed " + path)
	return path, nil
}

// fromWheel downloads the CPU plugin's wheel by pip, and extracts the plugin into dir.
func fromWheel(ctx context.Context, dir string) error {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	sum, ok := wheelSums[platform]
	if !ok {
		return fmt.Errorf("there is none for %s with a known checksum: "+
			"put one that you trust into a folder named by PJRT_PLUGIN_LIBRARY_PATH", platform)
	}
	temporary, err := os.MkdirTemp(dir, ".wheel-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	if err := pip(ctx, "download", "--no-deps", "--only-binary=:all:", "--dest", temporary,
		wheel+"=="+wheelVersion); err != nil {
		return err
	}
	wheels, _ := filepath.Glob(filepath.Join(temporary, "*.whl"))
	if len(wheels) != 1 {
		return fmt.Errorf("pip downloaded %d wheels instead of one", len(wheels))
	}
	part := filepath.Join(temporary, "plugin.so")
	if err := unpack(wheels[0], wheelMember, part, sum); err != nil {
		return err
	}
	return os.Rename(part, filepath.Join(dir, "pjrt_c_api_cpu_plugin.so"))
}

// pip runs a command of pip, for an hour at most.
func pip(ctx context.Context, command string, arguments ...string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	run := exec.CommandContext(ctx, "python3", append([]string{"-m", "pip", command, "--quiet",
		"--disable-pip-version-check"}, arguments...)...)
	if out, err := run.CombinedOutput(); err != nil {
		text := strings.TrimSpace(string(out))
		return fmt.Errorf("python3 -m pip %s failed: %w: %s", command, err, text[strings.LastIndex(text, "\n")+1:])
	}
	return nil
}

// maxPlugin is the largest plugin in bytes that [unpack] accepts; XLA's has some 200 MB.
const maxPlugin = 1 << 30

// unpack extracts a member of a zip file to path, if the zip file's SHA-256 in hexadecimal is sum.
func unpack(archive, member, path, sum string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, f)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", filepath.Base(archive), err)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != sum {
		return fmt.Errorf("%s has the sha256 %s instead of %s and is not used: "+
			"try another network or package index", filepath.Base(archive), got, sum)
	}
	z, err := zip.NewReader(f, size)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", filepath.Base(archive), err)
	}
	in, err := z.Open(member)
	if err != nil {
		return fmt.Errorf("%s does not hold %s", filepath.Base(archive), member)
	}
	defer in.Close()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, maxPlugin+1))
	if n > maxPlugin {
		err = fmt.Errorf("%s has more than %d MiB", member, maxPlugin>>20)
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("%s cannot be unpacked: %w", filepath.Base(archive), err)
	}
	return nil
}
