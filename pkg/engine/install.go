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
	"github.com/gomlx/go-xla/installer"
)

// The wheel that carries the XLA CPU plugin on PyPI, for machines that reach package registries only, and the sums of
// what is inside by platform.
const wheel, wheelVersion, wheelMember = "xla-cpu-pjrt", "0.0.1", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"

var wheelSums = map[string]string{
	"linux/amd64": "88c3f28c5900f48ad4a82cab9e79bba9537809743395e341485f8794268820dc",
	"linux/arm64": "fcf411f3e8ff635c2b2cf87215aa7016f460e66d236c3db08309e7486583532d",
}

// Install puts the XLA plugin for "cpu" or "cuda" in place, in the user's home (see [PluginDir]), and returns
// its path: an installed one, else from go-xla's own installer, else, for the CPU, from PyPI's wheel, checked
// by its sha256. What was installed is loaded before it is trusted, and removed again if that fails. log
// receives a line per attempt.
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
	log(fmt.Sprintf("installing the XLA %s plugin in %s with go-xla's installer", kind, dir))
	attempts := []error{fromRelease(kind, dir)}
	if attempts[0] != nil && kind == "cpu" {
		log(fmt.Sprintf("not to be had there (%v); trying the wheel %s %s",
			firstLine(attempts[0]), wheel, wheelVersion))
		attempts = append(attempts, fromWheel(ctx, dir))
	}
	if last := attempts[len(attempts)-1]; last != nil {
		return "", fmt.Errorf("the XLA %s plugin could not be installed: %w; "+
			"the pure-Go engine (--engine go) works without", kind, errors.Join(attempts...))
	}
	path := Plugins()[kind]
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

// fromRelease runs go-xla's installer, which takes the CPU plugin from its project's release page; see
// installCUDA for the other.
func fromRelease(kind, dir string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("go-xla's installer failed: %v", p)
		}
	}()
	if kind == "cuda" {
		return installCUDA(dir)
	}
	return installer.CPUAutoInstall(dir, true, installer.Quiet)
}

// fromWheel has pip download the wheel, and takes the plugin out of it.
func fromWheel(ctx context.Context, dir string) error {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	sum, ok := wheelSums[platform]
	if !ok {
		return fmt.Errorf("there is no wheel for %s", platform)
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
	if err := extract(wheels[0], wheelMember, part, sum); err != nil {
		return err
	}
	return os.Rename(part, filepath.Join(dir, "pjrt_c_api_cpu_plugin.so"))
}

// maxPlugin bounds what is unpacked; the plugin has some 200 MB.
const maxPlugin = 1 << 30

// extract writes a member of a zip file to path, and fails unless it has the sha256 sum.
func extract(archive, member, path, sum string) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", filepath.Base(archive), err)
	}
	defer z.Close()
	in, err := z.Open(member)
	if err != nil {
		return fmt.Errorf("%s does not hold %s", filepath.Base(archive), member)
	}
	defer in.Close()
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	hash := sha256.New()
	if _, err = io.Copy(io.MultiWriter(out, hash), io.LimitReader(in, maxPlugin)); err != nil { // the sum tells if cut
		out.Close()
		return fmt.Errorf("%s cannot be unpacked: %w", filepath.Base(archive), err)
	}
	if err := out.Close(); err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != sum {
		return fmt.Errorf("%s in %s has sha256 %s, expected %s; it is not used",
			member, filepath.Base(archive), got, sum)
	}
	return nil
}

// loads opens a backend and closes it again.
func loads(config string) error {
	b, err := compute.NewWithConfig(config)
	if err != nil {
		return err
	}
	b.Finalize()
	return nil
}

// firstLine and lastLine cut the reports of other programs to a line.
func firstLine(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

func lastLine(b []byte) string {
	text := strings.TrimSpace(string(b))
	return text[strings.LastIndex(text, "\n")+1:]
}
