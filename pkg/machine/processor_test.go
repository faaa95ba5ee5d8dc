package machine

import (
	"runtime"
	"testing"
)

func TestVectors(t *testing.T) {
	if got := vectors("fpu SSE4_2 avx2 pae AVX512_BF16 fma avx2 bmi1"); got != "avx2 avx512_bf16 fma sse4_2" {
		t.Errorf("got %q", got)
	}
	if got := vectors(""); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

// TestProcessor: on Linux on Intel's and AMD's processors, the kernel tells the family, the model and the instruction
// sets.
func TestProcessor(t *testing.T) {
	family, model, features := Processor()
	if runtime.GOOS+runtime.GOARCH == "linuxamd64" && (family == "" || model == "" || features == "") {
		t.Errorf("family %q, model %q, features %q", family, model, features)
	}
}
