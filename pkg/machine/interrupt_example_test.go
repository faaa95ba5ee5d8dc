package machine_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"syscall"

	"github.com/revgnn/revgnn/pkg/machine"
)

// The example is a program that keeps its results when Ctrl-C or a scheduler's signal ends it. To show this, the
// program sends a signal to itself.
func ExampleInterruptible() {
	ctx, stop := machine.Interruptible(context.Background())
	defer stop()
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		log.Fatal(err)
	}
	if err := self.Signal(syscall.SIGTERM); err != nil {
		log.Fatal(err)
	}

	<-ctx.Done() // A function that is given ctx, such as train.Fit, returns now.
	if by, is := machine.InterruptOf(ctx); is {
		fmt.Println("keep what there is, and exit with status", by.Status())
	}
	// Output: keep what there is, and exit with status 143
}
