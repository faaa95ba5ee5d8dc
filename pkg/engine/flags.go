package engine

import (
	"os"
	"strings"

	"golang.org/x/sys/cpu"
)

// widen lets XLA's CPU compiler use whole AVX-512 registers, where the processor has them: its default are half of one, with
// which sums over neighbours take 1.4 to 1.8 times as long (docs/performance.md). A choice in XLA_FLAGS is left alone. The
// plugin reads the variable when it is opened.
func widen() {
	const width = "--xla_cpu_prefer_vector_width"
	flags := os.Getenv("XLA_FLAGS")
	if cpu.X86.HasAVX512F && !strings.Contains(flags, width) {
		os.Setenv("XLA_FLAGS", strings.TrimSpace(flags+" "+width+"=512"))
	}
}
