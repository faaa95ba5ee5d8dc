package host

import (
	"os"
	"testing"
)

// TestTuneEnvironment checks when Tune changes the environment variable GLIBC_TUNABLES. Tune must leave GLIBC_TUNABLES
// as it is if REVGNN_ALLOCATOR is "system", or if GLIBC_TUNABLES has settings of malloc that Tune has not added. If
// Tune has added settings to GLIBC_TUNABLES, it must remove these settings and no others.
func TestTuneEnvironment(t *testing.T) {
	for _, c := range []struct{ allocator, before, after string }{
		{System, "", ""},
		{System, "glibc.rtld.nns=2", "glibc.rtld.nns=2"},
		{System, Tunables, Tunables},
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
