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
