package machine

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// GPU returns the product name of the first NVIDIA GPU, from a file of NVIDIA's driver for Linux, or "".
func GPU() string {
	found, _ := filepath.Glob("/proc/driver/nvidia/gpus/*/information")
	if len(found) == 0 {
		return ""
	}
	return field(found[0], "Model")
}

// field returns the first value with the given name in a file of lines "name: value", or "".
func field(path, name string) string {
	b, _ := os.ReadFile(path) // if there is no file, b is empty
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// vector matches the instruction sets for vectors. A processor may have over a hundred others, which do not change the
// last digits of results.
var vector = regexp.MustCompile(`^(v?sse|ssse|avx|fma|f16c|amx|neon|asimd|sve|sme|bf16|i8mm|fphp)`)

// vectors returns the instruction sets for vectors in a list, in lower case and in order.
func vectors(list string) string {
	sets := slices.DeleteFunc(strings.Fields(strings.ToLower(list)), func(name string) bool {
		return !vector.MatchString(name)
	})
	slices.Sort(sets)
	return strings.Join(slices.Compact(sets), " ")
}
