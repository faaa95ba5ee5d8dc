package main

import (
	"fmt"
	"io"

	"github.com/revgnn/revgnn/pkg/plain"
)

// output is a command's stdout. It keeps the first error, since cobra ignores errors when it writes a help text.
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

func (o *output) err() error {
	if o.failed == nil {
		return nil
	}
	return fmt.Errorf("the result cannot be written: %w", o.failed)
}

// write writes text that may contain names from files: characters that control the terminal are replaced, except line
// ends and tabs.
func (a *app) write(text []byte) error {
	if _, err := io.WriteString(a.stdout, plain.Keeping(string(text), "\n\t")); err != nil {
		return fmt.Errorf("the result cannot be written: %w", err)
	}
	return nil
}
