package slurm_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/revgnn/revgnn/pkg/slurm"
)

// The script of each worker runs the command with the worker's own arguments, in the environment of the site, and ends
// with its status. A worker that is told to end, and does so before it is done, is queued again.
func TestScript(t *testing.T) {
	dir := t.TempDir()
	said := filepath.Join(dir, "said")
	tool := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/bash\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tool("scontrol", `echo "scontrol $*" >>`+said)
	command := tool("work", `trap 'exit 7' USR1
		echo "$GREETING $REVGNN_THREADS $REVGNN_MEMORY $(printf '<%s>' "$@")" >>`+said+`
		[ "$2" != wait ] || { kill -USR1 $PPID; while :; do sleep 0.1; done; }`)
	site, err := slurm.Site{Sbatch: map[string]string{"partition": "gpu", "exclusive": ""}, Setup: []string{"GREETING=hi",
		"export GREETING"}}.With(map[string]string{"time": "1:00:00"})
	if err != nil {
		t.Fatal(err)
	}
	a := slurm.Array{Site: site, Name: "n", Folder: dir, Command: []string{command, "it's"},
		Own: [][]string{{"a b", "$c"}, {"wait"}}, Environment: map[string]string{"X": "y z"}}
	text, err := a.Script()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"#SBATCH --partition=gpu\n", "#SBATCH --exclusive\n", "#SBATCH --time=1:00:00\n",
		"#SBATCH --array=0-1\n", "export X='y z'\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the script lacks %q:\n%s", want, text)
		}
	}
	path := tool("job", text)
	for index, want := range map[string]struct {
		code int
		said string
	}{"0": {0, "hi 3 2 <it's><a b><$c>\n"}, "1": {7, "hi 3 2 <it's><wait>\nscontrol requeue 12_1\n"}} {
		os.Remove(said)
		c := exec.Command("bash", path)
		c.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SLURM_ARRAY_TASK_ID="+index, "SLURM_ARRAY_JOB_ID=12",
			"SLURM_CPUS_ON_NODE=3", "SLURM_MEM_PER_NODE=2048", "REVGNN_THREADS=", "REVGNN_MEMORY=")
		c.Run()
		if got, _ := os.ReadFile(said); string(got) != want.said || c.ProcessState.ExitCode() != want.code {
			t.Errorf("worker %s: exit status %d and %q, want %d and %q", index, c.ProcessState.ExitCode(), got, want.code,
				want.said)
		}
	}
}

func TestSiteRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"sbatch": {"array": "0-9"}}`:    "revgnn's own",
		`{"sbatch": {"--time": "1"}}`:     "no option of sbatch",
		`{"sbatch": {"comment": "a\nb"}}`: "more than one line",
		`{"partition": "x"}`:              "does not describe a cluster",
		`{`:                               "does not describe a cluster",
	} {
		path := filepath.Join(t.TempDir(), "site.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := slurm.ReadSite(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
