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

// InOwnProcess runs a task in a new process, in which no other task runs. The memory of the process is therefore the
// memory of the task. InOwnProcess starts two such processes, one after the other, and returns the record that the
// second process makes. The first process compiles the task's program, which takes additional memory. The second
// process only loads the compiled program.
//
// The function command returns the command that starts a new process. InOwnProcess calls this function with the path of
// the running executable and with the task as JSON. The new process must call [ExecuteAlone] with this task, and write
// the record to stdout as JSON.
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

// ExecuteAlone runs a task and returns its record. It is called in the process that [InOwnProcess] started for the
// task.
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
