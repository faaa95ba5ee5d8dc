package host_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"syscall"

	"github.com/revgnn/revgnn/pkg/host"
)

// The example is a command that keeps its results when it is ended by Ctrl-C or by a scheduler's signal. Here it sends
// the signal to itself.
func ExampleInterruptible() {
	ctx, stop := host.Interruptible(context.Background())
	defer stop()
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		log.Fatal(err)
	}
	if err := self.Signal(syscall.SIGTERM); err != nil {
		log.Fatal(err)
	}

	<-ctx.Done() // work that takes ctx, such as train.Fit, returns here
	if by, is := host.InterruptOf(ctx); is {
		fmt.Println("keep what there is, and exit with status", by.Status())
	}
	// Output: keep what there is, and exit with status 143
}
