package runs

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
)

// InOwnProcess runs a task in a process of its own, so that the memory of the process is that of the task, and returns
// the record that this process writes to stdout as JSON; it must call [ExecuteAlone]. Two processes run one after the
// other: the first also compiles the program, which takes additional memory; the second only loads it, and its record
// counts. The function command is given the path of the running executable and the task as JSON.
func InOwnProcess(ctx context.Context, t Task,
	command func(self, task string) *exec.Cmd) (record Record, err error) {
	self, err := os.Executable()
	if err != nil {
		return record, fmt.Errorf("this program can't find itself to time %s: %w", t, err)
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

// ExecuteAlone is what the process that [InOwnProcess] starts does.
func ExecuteAlone(ctx context.Context, t Task, engineName string,
	load func(ctx context.Context, name string) (*graphs.Graph, error)) (record Record, err error) {
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
