package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/results"
)

// InOwnProcess runs a task in a new process of this programme, so that the memory it reports is its own. It runs the
// task twice: compiling takes memory too, and the second process finds the program that the first compiled. command
// builds the call of the programme self for the task, as JSON; it must write the record of [ExecuteAlone] to stdout,
// as JSON.
func InOwnProcess(ctx context.Context, t Task,
	command func(self, task string) *exec.Cmd) (record results.Record, err error) {
	self, err := os.Executable()
	if err != nil {
		return record, fmt.Errorf("this programme can't find itself to time %s: %w", t, err)
	}
	text, err := json.Marshal(t)
	if err != nil {
		return record, err
	}
	for range 2 {
		out, err := command(self, string(text)).Output()
		if err != nil {
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
			}
			return record, fmt.Errorf("timing %s: %w", t, err)
		}
		if err := json.Unmarshal(out, &record); err != nil {
			return record, fmt.Errorf("timing %s: its record can't be read: %w", t, err)
		}
	}
	return record, nil
}

// ExecuteAlone runs the task of a process that [InOwnProcess] started.
func ExecuteAlone(ctx context.Context, t Task, engineName string,
	load func(ctx context.Context, name string) (*graphs.Graph, error)) (record results.Record, err error) {
	g, err := load(ctx, t.Dataset)
	if err != nil {
		return record, err
	}
	e, err := engine.Open(engineName)
	if err != nil {
		return record, err
	}
	return Execute(ctx, Place{Engine: e, Graph: g, Alone: true}, t)
}
