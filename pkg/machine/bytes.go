package machine

import "fmt"

// Bytes returns a number of bytes as text, such as "1.5 GiB"; "unknown" if it is not above 0.
func Bytes(n int64) string {
	const kib, mib, gib = 1 << 10, 1 << 20, 1 << 30
	switch {
	case n <= 0:
		return "unknown"
	case n < mib:
		return fmt.Sprintf("%.0f KiB", float64(n)/kib)
	case n < gib:
		return fmt.Sprintf("%.0f MiB", float64(n)/mib)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/gib)
}
