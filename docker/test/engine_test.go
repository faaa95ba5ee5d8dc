// Package images_test runs the images that docker/test/build.sh has built: `make test-image` and `make test-hub`. Without
// REVGNN_TEST_IMAGES its tests skip, since they need a container engine and take minutes.
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

// engine is docker or podman, by docker/test/engine.sh.
func engine(t *testing.T) string {
	t.Helper()
	if os.Getenv("REVGNN_TEST_IMAGES") == "" || os.Getenv("ENGINE") == "" {
		t.Skip("images are tested by `make test-image` and `make test-hub`")
	}
	return os.Getenv("ENGINE")
}

// try runs the engine, and returns what it wrote to stdout; where it failed, what it wrote to stderr as well.
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

// do is try for what must not fail.
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
