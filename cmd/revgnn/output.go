package main

import (
	"fmt"
	"io"

	"github.com/revgnn/revgnn/pkg/plain"
)

// output is where commands write to. It remembers the first error, since cobra's help and others do not look at it.
type output struct {
	w      io.Writer
	failed error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if o.failed == nil {
		o.failed = err
	}
	return n, err
}

// err says that something could not be written.
func (o *output) err() error {
	if o.failed == nil {
		return nil
	}
	return fmt.Errorf("the result cannot be written: %w", o.failed)
}

// write writes text in which names from files must not steer the terminal: lines and columns stay.
func (a *app) write(text []byte) error {
	if _, err := io.WriteString(a.stdout, plain.Keeping(string(text), "\n\t")); err != nil {
		return fmt.Errorf("the result cannot be written: %w", err)
	}
	return nil
}
