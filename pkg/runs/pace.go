package runs

import (
	"fmt"
	"time"

	"github.com/revgnn/revgnn/pkg/train"
)

// paced returns a function for the end of each epoch, which calls f with the estimated seconds that are left: by the
// mean time of the epochs in this process, without the first one, which takes longer, as soon as there are others.
func paced(f func(e train.Epoch, left float64)) func(train.Epoch) {
	var start time.Time
	first := 0
	return func(e train.Epoch) {
		each := e.Seconds
		if first == 0 {
			start, first = time.Now(), e.Epoch
		} else {
			each = time.Since(start).Seconds() / float64(e.Epoch-first)
		}
		f(e, each*float64(e.Epochs-e.Epoch))
	}
}

// Duration writes a number of seconds as text, such as "12 s" or "3 min".
func Duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < time.Minute {
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	if d < 2*time.Hour {
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	if d < 48*time.Hour {
		return fmt.Sprintf("%.1f h", d.Hours())
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}
