package host

import (
	"os"
	"testing"
)

// Tune must do nothing if the environment tells it so. Otherwise it must remove its own settings, and no others, from
// the environment.
func TestTuneEnvironment(t *testing.T) {
	for _, c := range []struct{ allocator, before, after string }{
		{System, "", ""},
		{System, "glibc.rtld.nns=2", "glibc.rtld.nns=2"},
		{"", "glibc.malloc.arena_max=7", "glibc.malloc.arena_max=7"},
		{"", Tunables, ""},
		{Keep, KeepTunables, ""},
		{Keep, "glibc.malloc.arena_max=7", "glibc.malloc.arena_max=7"},
		{"", "glibc.rtld.nns=2:" + Tunables, "glibc.rtld.nns=2"},
	} {
		t.Setenv(Allocator, c.allocator)
		t.Setenv(variable, c.before)
		if err := Tune(); err != nil {
			t.Fatal(err)
		}
		if got := os.Getenv(variable); got != c.after {
			t.Errorf("%s=%q and %s=%q: afterwards %q, want %q",
				Allocator, c.allocator, variable, c.before, got, c.after)
		}
	}
}
