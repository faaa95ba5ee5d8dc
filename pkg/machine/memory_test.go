package machine

import (
	"runtime"
	"testing"
)

func TestMemory(t *testing.T) {
	total, free := Memory()
	if total < 0 || free < 0 || total > 0 && free > total {
		t.Errorf("%d of %d bytes are free", free, total)
	}
	if runtime.GOOS == "linux" && (total == 0 || free == 0) {
		t.Errorf("%d of %d bytes are free, but Linux tells", free, total)
	}
	if GPUMemory() < 0 {
		t.Error("less than no memory is free on the GPU")
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{-1: "unknown", 0: "unknown", 2048: "2 KiB", 300 << 20: "300 MiB",
		1<<30 - 1: "1024 MiB", 3 << 29: "1.5 GiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
}

func TestRoom(t *testing.T) {
	if err := Room(1 << 20); err != nil {
		t.Error(err)
	}
	if total, _ := Memory(); total > 0 && Room(2*total) == nil {
		t.Error("there is room for twice the memory")
	}
}
