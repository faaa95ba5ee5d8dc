package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// twoNodes is a cluster of two nodes of one core each, on this machine, without limits on memory.
const twoNodes = `ClusterName=lab
SlurmctldHost=localhost
SlurmctldPort=17000
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
StateSaveLocation=DIR/state
SlurmdSpoolDir=DIR/spool/%n
SlurmctldPidFile=DIR/ctld.pid
SlurmdPidFile=DIR/slurmd-%n.pid
SlurmctldLogFile=DIR/ctld.log
SlurmdLogFile=DIR/slurmd-%n.log
ReturnToService=2
KillWait=5
MpiDefault=none
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=17001 CPUs=1 RealMemory=4000 State=UNKNOWN
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=17002 CPUs=1 RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=60 State=UP
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
`

// cluster2 starts Slurm, which ends with the test.
func cluster2(t *testing.T) {
	if os.Getenv("REVGNN_TEST_SLURM") == "" {
		t.Skip("a real Slurm: make test-slurm")
	}
	dir := t.TempDir()
	for _, name := range []string{"state", "spool/n1", "spool/n2"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	conf := filepath.Join(dir, "slurm.conf")
	if err := os.WriteFile(conf, []byte(strings.ReplaceAll(twoNodes, "DIR", dir)), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLURM_CONF", conf)
	shell(t, `pidof munged >/dev/null || { mkdir -p /run/munge && chown munge /run/munge
		[ -e /etc/munge/munge.key ] || { head -c 1024 /dev/urandom >/etc/munge/munge.key
		chown munge /etc/munge/munge.key; chmod 400 /etc/munge/munge.key; }
		su -s /bin/sh munge -c munged; }`)
	for _, daemon := range [][]string{{"slurmctld", "-D"}, {"slurmd", "-D", "-N", "n1"}, {"slurmd", "-D", "-N", "n2"}} {
		c := exec.Command(daemon[0], daemon[1:]...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Process.Signal(os.Interrupt); c.Wait() })
	}
	t.Cleanup(func() { exec.Command("scancel", "--me").Run(); time.Sleep(3 * time.Second) })
	waitFor(t, "two idle nodes", time.Minute, func() bool {
		out, _ := exec.Command("sinfo", "--noheader", "--Node", "--format=%T").Output()
		return strings.Count(string(out), "idle") == 2
	})
}

func shell(t *testing.T, script string) string {
	t.Helper()
	out, err := exec.Command("bash", "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
	return string(out)
}

func waitFor(t *testing.T, what string, most time.Duration, is func() bool) {
	t.Helper()
	for end := time.Now().Add(most); !is(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no %s after %s", what, most)
		}
	}
}

// TestSlurm makes the trainings of a table on Slurm, while the command that submitted them is killed, a worker is killed
// and a node fails. Each must be recorded once, and with the numbers of a run on this machine.
func TestSlurm(t *testing.T) {
	cluster2(t)
	dir := t.TempDir()
	data, err := filepath.Abs(shared(t, "data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(shell(t, "tail -v -n 20 "+dir+"/out/slurm/*/log/*"))
		}
	})
	work := func(runs string, more ...string) *exec.Cmd {
		c := commandFor(t, 15*time.Minute, append([]string{"reproduce", "table2", "--profile", "paper", "--datasets",
			"chameleon-filtered", "--models", "gcn", "--splits", "0-7", "--data", data, "--engine", "xla:cpu", "--threads", "1", "--runs",
			filepath.Join(dir, runs), "--out", filepath.Join(dir, "paper")}, more...)...)
		c.Dir = dir
		return c
	}
	on := func() *exec.Cmd { return work("slurm.sqlite", "--on", "slurm", "--jobs", "2") }
	records := func() int {
		found, _ := filepath.Glob(filepath.Join(dir, "out/slurm/*/records/1*.jsonl"))
		return len(found)
	}

	first := on()
	first.Stderr = t.Output()
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "records", 2*time.Minute, func() bool { return records() >= 3 })
	first.Process.Kill()
	first.Wait()
	shell(t, "pkill -9 -f 'revgnn reproduce.*--on=local' -o") // the older of the two workers
	at := records()
	waitFor(t, "record after a worker's end", 2*time.Minute, func() bool { return records() > at+1 })
	list := succeedsIn(t, dir, "jobs", "--json")
	var states []state
	if err := json.Unmarshal([]byte(list), &states); err != nil || len(states) != 1 || states[0].Done < at ||
		states[0].Running+states[0].Waiting != 1 {
		t.Errorf("revgnn jobs says %s", list)
	}
	node := strings.TrimSpace(shell(t, "squeue --me --noheader --format=%N"))
	shell(t, "scontrol update nodename="+node+" state=down reason=test")
	time.Sleep(2 * time.Second)
	shell(t, "scontrol update nodename="+node+" state=resume || true") // it may have come back by itself
	shell(t, "for j in $(squeue --me --noheader --format=%A); do scontrol update jobid=$j starttime=now; done; true")

	again := on() // finds the job
	var said bytes.Buffer
	again.Stderr = &said
	if err := again.Run(); err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	if !strings.Contains(said.String(), "is at it already") {
		t.Errorf("the job was not found again: %s", said.String())
	}
	if err := work("here.sqlite", "--jobs", "2").Run(); err != nil {
		t.Fatal(err)
	}
	slurm, here := numbers(t, dir, "slurm.sqlite"), numbers(t, dir, "here.sqlite")
	if len(slurm) < 40 || len(slurm) != len(here) {
		t.Errorf("%d runs on Slurm, %d here", len(slurm), len(here))
	}
	for key, want := range here {
		if slurm[key] != want {
			t.Errorf("run %s: %s on Slurm, %s here", key, slurm[key], want)
		}
	}
}

func succeedsIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := command(t, args...)
	c.Dir = dir
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return string(out)
}

// numbers returns what trainings on this machine's Chameleon gave, without times, by their keys. Each key must be there
// once.
func numbers(t *testing.T, dir, file string) map[string]string {
	t.Helper()
	out := map[string]string{}
	var list []struct {
		Key, Kind, Status string
		Outcome           map[string]any
	}
	text := succeedsIn(t, dir, "runs", "list", "--json", "--kind", "train", "--profile", "paper", "--model", "gcn",
		"--dataset", "chameleon-filtered", "--runs", file)
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if _, twice := out[r.Key]; twice {
			t.Errorf("%s has the run %s twice", file, r.Key)
		}
		for name := range r.Outcome {
			if strings.Contains(name, "seconds") || strings.Contains(name, "bytes") {
				delete(r.Outcome, name)
			}
		}
		b, err := json.Marshal(r.Outcome)
		if err != nil {
			t.Fatal(err)
		}
		out[r.Key] = fmt.Sprint(r.Status, string(b))
	}
	return out
}
