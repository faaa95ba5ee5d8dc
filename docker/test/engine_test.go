// Package images_test tests the container images that docker/test/build.sh builds. `make test-image` and `make
// test-hub` run the tests. They need a container engine, and take minutes. So they are skipped unless the environment
// variable REVGNN_TEST_IMAGES is set.
package images_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// engine returns the container engine that docker/test/engine.sh has found: docker or podman. If the images are not to
// be tested, the test is skipped.
func engine(t *testing.T) string {
	t.Helper()
	if os.Getenv("REVGNN_TEST_IMAGES") == "" || os.Getenv("ENGINE") == "" {
		t.Skip("images are tested by `make test-image` and `make test-hub`")
	}
	return os.Getenv("ENGINE")
}

// try runs the container engine, and returns what the engine writes to stdout. If the engine fails, try also returns
// what it writes to stderr.
func try(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, engine(t), args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if err != nil || args[0] == "logs" { // a container's log is on both
		out.Write(said.Bytes())
	}
	return strings.TrimSpace(out.String()), err
}

// do runs the container engine, and returns what the engine writes to stdout. If the engine fails, the test fails.
func do(t *testing.T, args ...string) string {
	t.Helper()
	out, err := try(t, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", engine(t), strings.Join(args, " "), err, out)
	}
	return out
}

// until waits for a condition.
func until(t *testing.T, what string, limit time.Duration, is func() bool) time.Duration {
	t.Helper()
	start := time.Now()
	for !is() {
		if time.Since(start) > limit {
			t.Fatalf("%s: not within %v", what, limit)
		}
		time.Sleep(100 * time.Millisecond)
	}
	return time.Since(start)
}
