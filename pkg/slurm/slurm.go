// Package slurm hands work to Slurm (slurm.schedmd.com): it writes the script of an array job, whose elements are
// workers that share a folder, submits it, and asks what has become of it. Scheduling is Slurm's own.
package slurm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/revgnn/revgnn/pkg/files"
)

// Site says how work is done on a cluster.
type Site struct {
	// Sbatch are options of sbatch by their long names, such as partition, account, time, mem, cpus-per-task and gres. One
	// without a value is "".
	Sbatch map[string]string `json:"sbatch"`
	// Setup are lines of bash before the work, such as "module load cuda".
	Setup []string `json:"setup"`
	// Run is what starts a container, such as apptainer, exec, --nv and an image; empty for none.
	Run []string `json:"run"`
}

// ReadSite reads a site from a JSON file.
func ReadSite(path string) (s Site, err error) {
	const limit = 1 << 20
	text, err := files.Read(path, "a JSON file that describes a cluster", limit)
	if err != nil {
		return s, err
	}
	if err := files.Strict(text, &s); err != nil {
		return s, fmt.Errorf("%s does not describe a cluster: %w; it may have sbatch (options by name), setup (lines of "+
			"bash) and run (the words that start a container)", path, err)
	}
	return s, s.check()
}

var (
	optionName = regexp.MustCompile(`^[a-z][a-z-]*$`)
	// ours are the options that the script needs as they are.
	ours = []string{"array", "chdir", "open-mode", "output", "requeue", "no-requeue", "signal", "wrap"}
)

func (s Site) check() error {
	for name, value := range s.Sbatch {
		switch {
		case !optionName.MatchString(name):
			return fmt.Errorf("%q is no option of sbatch: give its long name without dashes, as in partition", name)
		case slices.Contains(ours, name):
			return fmt.Errorf("the option %s of sbatch is revgnn's own: leave it out", name)
		case strings.ContainsAny(value, "\n\r"):
			return fmt.Errorf("the option %s of sbatch has more than one line", name)
		}
	}
	return nil
}

// With returns the site with further options of sbatch, which come before its own.
func (s Site) With(options map[string]string) (Site, error) {
	all := maps.Clone(s.Sbatch)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, options)
	s.Sbatch = all
	return s, s.check()
}

// Array is an array job of workers.
type Array struct {
	Site
	Name string
	// Folder has log/, with a file for each worker.
	Folder string
	// Command is what all workers do, in the working directory of today, and Own the further arguments of each.
	Command     []string
	Own         [][]string
	Environment map[string]string
}

// Script is the job's script for sbatch. Two minutes before the time limit, a worker is told by SIGUSR1, which ends a
// training after its epoch, and is queued again.
func (a Array) Script() (string, error) {
	at, err := os.Getwd()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("#!/bin/bash")
	line("# Workers of: %s", strings.NewReplacer("\n", " ", "\r", " ").Replace(strings.Join(a.Command, " ")))
	options := map[string]string{"job-name": a.Name, "array": fmt.Sprintf("0-%d", len(a.Own)-1), "open-mode": "append",
		"output": filepath.Join(a.Folder, "log", "%A_%a.txt"), "requeue": "", "signal": "B:USR1@120", "chdir": at}
	maps.Copy(options, a.Sbatch)
	for _, name := range slices.Sorted(maps.Keys(options)) {
		if value := options[name]; value == "" {
			line("#SBATCH --%s", name)
		} else {
			line("#SBATCH --%s=%s", name, quoted(value))
		}
	}
	line("")
	for _, name := range slices.Sorted(maps.Keys(a.Environment)) {
		line("export %s=%s", name, quoted(a.Environment[name]))
	}
	line(`export REVGNN_THREADS=${REVGNN_THREADS:-$SLURM_CPUS_ON_NODE}`)
	line(`if [ -n "${SLURM_MEM_PER_NODE:-}" ] && [ -z "${SLURM_JOB_GPUS:-}" ]; then # in MiB`)
	line("\texport REVGNN_MEMORY=${REVGNN_MEMORY:-$(awk \"BEGIN { print $SLURM_MEM_PER_NODE / 1024 }\")}")
	line("fi")
	for _, s := range a.Setup {
		line("%s", s)
	}
	line("set +e")
	line(`case $SLURM_ARRAY_TASK_ID in`)
	for i, own := range a.Own {
		line("%d) set -- %s ;;", i, words(own))
	}
	line("esac")
	line(`trap 'late=yes; kill -USR1 "$worker"' USR1`)
	line(`trap 'kill -TERM "$worker"' TERM`)
	line(`%s "$@" &`, words(slices.Concat(a.Run, a.Command)))
	line("worker=$!")
	line(`wait "$worker"; status=$?`)
	line(`while kill -0 "$worker" 2>/dev/null; do wait "$worker"; status=$?; done # a signal ends wait before the worker`)
	line(`[ -z "${late:-}" ] || [ $status = 0 ] || scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"`)
	line("exit $status")
	return b.String(), nil
}

func words(list []string) string {
	var out []string
	for _, w := range list {
		out = append(out, quoted(w))
	}
	return strings.Join(out, " ")
}

var plain = regexp.MustCompile(`^[\w./:=,+@%-]+$`)

// quoted is a word as bash reads it.
func quoted(w string) string {
	if plain.MatchString(w) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// Submit writes the script to job.sh in the folder, hands it to sbatch, and returns the job's number.
func (a Array) Submit(ctx context.Context) (job string, err error) {
	text, err := a.Script()
	if err != nil {
		return "", err
	}
	if err := files.Writable(filepath.Join(a.Folder, "log")); err != nil {
		return "", err
	}
	path := filepath.Join(a.Folder, "job.sh")
	if err := files.WriteText(path, text); err != nil {
		return "", err
	}
	out, err := call(ctx, "sbatch", "--parsable", path)
	job, _, _ = strings.Cut(strings.TrimSpace(out), ";") // a cluster's name may follow
	return job, err
}

// Worker is an element of an array job that has not ended.
type Worker struct{ Job, Index, State, Reason string }

// Waits tells whether the worker has not begun.
func (w Worker) Waits() bool {
	return w.State == "PENDING" || w.State == "REQUEUED" || w.State == "REQUEUE_HOLD"
}

// Queue lists this user's workers that have not ended.
func Queue(ctx context.Context) (all []Worker, err error) {
	out, err := call(ctx, "squeue", "--me", "--array", "--noheader", "--format=%F %K %T %r")
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) >= 4 {
			all = append(all, Worker{f[0], f[1], f[2], strings.Join(f[3:], " ")})
		}
	}
	return all, err
}

// OutOfMemory tells whether a worker of a job ended for want of memory, as long as Slurm knows it: some minutes.
func OutOfMemory(ctx context.Context, job string) bool {
	out, _ := call(ctx, "scontrol", "show", "job", job, "--oneliner")
	return strings.Contains(out, "JobState=OUT_OF_MEMORY")
}

// Cancel ends a job; its workers keep the state of their trainings.
func Cancel(ctx context.Context, job string) error {
	_, err := call(ctx, "scancel", job)
	return err
}

func call(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("there is no %s here: --on slurm is for machines from which Slurm takes jobs", name)
	case errors.As(err, &exit):
		return "", fmt.Errorf("%s refused: %s", name, strings.Join(strings.Fields(string(exit.Stderr)), " "))
	case err != nil:
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return string(out), nil
}
