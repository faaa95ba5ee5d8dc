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
	"strings"
	"time"

	"github.com/gomlx/compute"
)

// The XLA CPU plugin comes from a wheel (a Python package file) on PyPI, since some machines can reach only package
// registries such as PyPI. The constant wheel is the name of the package. wheelVersion is its version. wheelMember is
// the path of the plugin inside the wheel. Each supported platform has its own wheel. wheelSums has the SHA-256 sum of
// each wheel.
const wheel, wheelVersion, wheelMember = "xla-cpu-pjrt", "0.0.1", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"

var wheelSums = map[string]string{
	"linux/amd64": "55837b6b7b47daa717f2d9a5a03563ea0ceaa338d06a81a1e2d3f060d960decc",
	"linux/arm64": "8f613be6e891858f40d64f9799319502fff42689661944fc18a6ffd8210b30c9",
}

// Install installs XLA's plugin in the user's home directory (see [PluginDir]), and returns the plugin's path. The
// argument kind says which plugin: "cpu" or "cuda". If this plugin is installed already, Install only returns its path.
// The CPU plugin comes from a wheel (a Python package file) on PyPI. Install verifies the wheel's SHA-256 before it
// unpacks the wheel. The CUDA plugin is installed by go-xla's installer (see installCUDA). If a new plugin cannot be
// loaded, Install removes it and returns an error. For each step, Install calls log with a line of text.
//
// go-xla's installer could also install a CPU plugin. But it does not verify what it downloads for the CPU, so that
// Install does not use it for the CPU.
func Install(ctx context.Context, kind string, log func(string)) (string, error) {
	if kind != "cpu" && kind != "cuda" {
		return "", fmt.Errorf("unknown plugin %q: choose cpu or cuda", kind)
	}
	if path := Plugins()[kind]; path != "" {
		log(fmt.Sprintf("the XLA %s plugin is installed: %s", kind, path))
		return path, nil
	}
	dir, err := PluginDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("the plugin folder cannot be made: %w; set HOME to a folder you may write to", err)
	}
	log(fmt.Sprintf("installing the XLA %s plugin in %s", kind, dir))
	from := fromWheel
	if kind == "cuda" {
		from = fromInstaller
	}
	if err := from(ctx, dir); err != nil {
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
	if err := loads("xla:" + kind); err != nil {
		os.Remove(path)
		return "", fmt.Errorf("the XLA %s plugin that was installed does not load on this machine and was removed: %w",
			kind, err)
	}
	log("installed " + path)
	return path, nil
}

// fromInstaller calls installCUDA. It turns a panic of go-xla's installer into an error.
func fromInstaller(_ context.Context, dir string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("go-xla's installer failed: %v", p)
		}
	}()
	return installCUDA(dir)
}

// fromWheel calls pip to download the wheel (a Python package file) that contains the CPU plugin. It then extracts the
// plugin into the folder dir.
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
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	pip := exec.CommandContext(ctx, "python3", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
		"--dest", temporary, wheel+"=="+wheelVersion)
	if out, err := pip.CombinedOutput(); err != nil {
		return fmt.Errorf("python3 -m pip download %s failed: %w: %s", wheel, err, lastLine(out))
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

// maxPlugin is the largest size of a plugin in bytes: [unpack] refuses a larger one. XLA's CPU plugin has some 200 MB.
const maxPlugin = 1 << 30

// unpack extracts one file from a zip file. The argument archive is the path of the zip file, and member is the name of
// the file inside it. The extracted file is written to path. The argument sum is the right SHA-256 of the zip file, in
// hexadecimal. If the zip file has another SHA-256, unpack extracts nothing and returns an error.
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

// loads checks that a plugin can be loaded. It opens the plugin's backend and closes it again, and returns an error if
// the backend cannot be opened. The argument config is the name of the backend, such as "xla:cpu".
func loads(config string) error {
	b, err := compute.NewWithConfig(config)
	if err != nil {
		return err
	}
	b.Finalize()
	return nil
}

// lastLine is the last line of another program's output.
func lastLine(b []byte) string {
	text := strings.TrimSpace(string(b))
	return text[strings.LastIndex(text, "\n")+1:]
}
