package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/files"
	"github.com/revgnn/revgnn/pkg/runs"
	"github.com/revgnn/revgnn/pkg/slurm"
)

// cluster says where the work of a command is done.
type cluster struct {
	on, site, share string
	sbatch          map[string]string
	flags           *pflag.FlagSet
	// Set by check: the site, and the folder for this work in share.
	its    slurm.Site
	folder string
	began  time.Time // set by workers
}

// sharedRecords names the environment variable with the folder of records of a worker on a cluster.
const sharedRecords = "REVGNN_SHARED_RECORDS"

// submittedVariable names the environment variable with the time at which a worker's work was submitted.
const submittedVariable = "REVGNN_SUBMITTED"

// submittedAt is the time at which a worker's work was submitted; zero in other processes.
func submittedAt() time.Time {
	at, _ := time.Parse(time.RFC3339, os.Getenv(submittedVariable))
	return at
}

func shareFlag(f *pflag.FlagSet, share *string) {
	f.StringVar(share, "share", "out/slurm", "folder for work on Slurm, on a file system that all nodes have")
}

func onCluster(f *pflag.FlagSet) *cluster {
	c := &cluster{flags: pflag.NewFlagSet("", pflag.ContinueOnError)}
	c.flags.StringVar(&c.on, "on", "local", "where to work: local, or slurm, as an array job of --jobs workers")
	c.flags.StringVar(&c.site, "site", "", "with --on slurm: JSON file with sbatch (options by name), setup (lines of "+
		"bash) and run (the words that start a container)")
	c.flags.StringToStringVar(&c.sbatch, "sbatch", nil, "with --on slurm: `options` of sbatch, as in "+
		"partition=gpu,gres=gpu:1")
	shareFlag(c.flags, &c.share)
	f.AddFlagSet(c.flags)
	return c
}

func (c *cluster) slurm() bool { return c.on == "slurm" }

// check checks the flags, and tells whether the work is done elsewhere.
func (c *cluster) check(of *cobra.Command) (bool, error) {
	if c.on != "local" && !c.slurm() {
		return false, usagef("--on is %q: choose local or slurm", c.on)
	}
	if !c.slurm() {
		for _, name := range []string{"site", "sbatch", "share"} {
			if of.Flags().Changed(name) && !helps() {
				return false, usagef("--%s goes with --on slurm", name)
			}
		}
		return false, nil
	}
	var err error
	if c.site != "" {
		c.its, err = slurm.ReadSite(c.site)
	}
	if err == nil {
		c.its, err = c.its.With(c.sbatch)
	}
	if err != nil {
		return false, asUsage(err)
	}
	// The same work has the same folder, whoever does it.
	settings := map[string]any{"command": of.Name(), "of": of.Flags().Args()}
	of.Flags().Visit(func(f *pflag.Flag) {
		if own := c.flags.Lookup(f.Name); own == nil && !slices.Contains([]string{"jobs", "json", "quiet", "resume"}, f.Name) {
			settings["--"+f.Name] = f.Value.String()
		}
	})
	const short = 8
	c.folder, err = filepath.Abs(filepath.Join(c.share, of.Name()+"-"+runs.Key(settings)[:short]))
	return true, err
}

// submitted is what work.json in a folder says.
type submitted struct {
	Job     string    `json:"job"`
	Command []string  `json:"command"`
	At      time.Time `json:"submitted"`
	// Before are the records that the workers begin with, and Total those that are there in the end; 0 if that is not
	// known.
	Before    int  `json:"records_before"`
	Total     int  `json:"records_total"`
	Cancelled bool `json:"cancelled,omitempty"`
	// Memory is that of each worker, as sbatch has it; "" for the site's default.
	Memory string `json:"memory,omitempty"`
}

const workName, recordsName = "work.json", "records"

// rejoin waits for a job that is at this work, if there is one, and tells whether the work was ever submitted.
func (j *jobs) rejoin(ctx context.Context, p *progress) (known bool, err error) {
	work, err := readWork(j.folder)
	if err != nil {
		return false, nil
	}
	queue, err := slurm.Queue(ctx)
	if err == nil && len(of(queue, work.Job)) > 0 {
		p.line("job %s is at it already, in %s", work.Job, j.folder)
		err = j.wait(ctx, p, work, func() (int, error) { return 0, nil })
	}
	return true, err
}

// workers does the work on the cluster: it submits an array job, or finds the one that is there, and takes what its
// workers record, until all have ended. Store and plan are nil for trainings that leave results in a folder of theirs;
// else the plan says what is missing, and is nil if that is not known.
func (j *jobs) workers(ctx context.Context, p *progress, store *runs.Store, own [][]string,
	plan func() (runs.Plan, error)) error {
	folder, err := runs.OpenFolder(filepath.Join(j.folder, recordsName))
	if err != nil {
		return err
	}
	collect := func() (int, error) {
		if store == nil {
			return 0, nil
		}
		return folder.Collect(store)
	}
	for memory := ""; ; {
		work, err := j.begin(ctx, p, folder, store, own, plan, collect, memory)
		if err != nil || work.Job == "" {
			return err
		}
		j.began = work.At
		if err := j.wait(ctx, p, work, collect); err != nil || store == nil {
			return err
		}
		if now, err := readWork(j.folder); err == nil && now.Cancelled {
			return fmt.Errorf("job %s was cancelled; what its workers recorded is kept, and the same command goes on", work.Job)
		}
		_, _, starved, err := folder.Count(work.At)
		if err != nil || memory != "" || work.Memory == "" || starved == 0 && !slurm.OutOfMemory(ctx, work.Job) {
			return err
		}
		if memory, err = doubled(work.Memory); err != nil {
			return err
		}
		p.line("runs had too little with %s of memory: these once more, with %s", work.Memory, memory)
	}
}

// begin finds the job that is at the work, or submits one, unless nothing is missing.
func (j *jobs) begin(ctx context.Context, p *progress, folder *runs.Folder, store *runs.Store, own [][]string,
	plan func() (runs.Plan, error), collect func() (int, error), memory string) (work submitted, err error) {
	alone, err := folder.Submits()
	if err != nil {
		return work, err
	}
	if alone == nil {
		return work, errors.New("the same command is just submitting the work: give it again in a moment")
	}
	defer alone.Release()
	queue, err := slurm.Queue(ctx)
	if err != nil {
		return work, err
	}
	if _, err := collect(); err != nil { // of workers that have ended meanwhile
		return work, err
	}
	if work, err = readWork(j.folder); err == nil && len(of(queue, work.Job)) > 0 {
		p.line("job %s is at it already, in %s", work.Job, j.folder)
		return work, nil
	}
	var missing runs.Plan
	if plan != nil {
		if missing, err = plan(); err != nil || missing.Missing == 0 {
			return submitted{}, err
		}
	}
	return j.submit(ctx, p, folder, store, own, missing, memory)
}

// doubled is twice an amount of memory as sbatch has it, such as 300M.
func doubled(memory string) (string, error) {
	n, unit := 0, ""
	if fields, _ := fmt.Sscanf(memory, "%d%s", &n, &unit); fields == 0 {
		return "", fmt.Errorf("runs need more memory than their job has, and --sbatch mem is %q: give a number and a unit, "+
			"as in 4G", memory)
	}
	return fmt.Sprint(2*n, unit), nil
}

// wait takes what comes until a job has no workers any more.
func (j *jobs) wait(ctx context.Context, p *progress, work submitted, collect func() (int, error)) error {
	came, last := 0, ""
	for {
		queue, err := slurm.Queue(ctx)
		if err != nil && ctx.Err() == nil {
			p.line("warning: %v", err) // the controller may be away for a while
		}
		live := err != nil || len(of(queue, work.Job)) > 0
		added, err := collect()
		if err != nil {
			return err
		}
		came += added
		running, waiting, reason := standing(of(queue, work.Job))
		text := fmt.Sprintf("%d workers run", running)
		if waiting > 0 {
			text += fmt.Sprintf(", %d wait (%s)", waiting, reason)
		}
		if text += fmt.Sprintf("; %d runs came", came); text != last {
			p.line("job %s: %s", work.Job, text)
			last = text
		}
		if !live {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("interrupted; job %s goes on: the same command waits for it again, and 'revgnn jobs cancel %s' "+
				"ends it", work.Job, filepath.Base(j.folder))
		case <-time.After(2 * time.Second):
		}
	}
}

// submit submits the work, with the given memory unless that is "": then it is what the site says, or what the plan
// needs.
func (j *jobs) submit(ctx context.Context, p *progress, folder *runs.Folder, store *runs.Store, own [][]string,
	plan runs.Plan, memory string) (w submitted, err error) {
	before := 0
	if store != nil {
		if before, err = folder.Give(store); err != nil {
			return w, err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return w, err
	}
	memory = cmp.Or(memory, j.its.Sbatch["mem"])
	_, perCPU := j.its.Sbatch["mem-per-cpu"]
	_, perGPU := j.its.Sbatch["mem-per-gpu"]
	if memory == "" && !perCPU && !perGPU && plan.Bytes > 0 && j.engineName != engine.CUDA {
		memory = fmt.Sprintf("%dM", 1024+plan.Bytes*5/4>>20)
	}
	site := j.its
	if memory != "" {
		if site, err = site.With(map[string]string{"mem": memory}); err != nil {
			return w, err
		}
	}
	w = submitted{Command: os.Args[1:], At: time.Now().UTC(), Before: before, Memory: memory}
	a := slurm.Array{Site: site, Name: "revgnn-" + filepath.Base(j.folder), Folder: j.folder,
		Command: slices.Concat([]string{self}, os.Args[1:], []string{"--on=local", "--jobs=1"}), Own: own,
		Environment: map[string]string{helper: worker, sharedRecords: filepath.Join(j.folder, recordsName),
			"REVGNN_RUNS": "", submittedVariable: w.At.Format(time.RFC3339)}}
	if plan.Missing > 0 {
		w.Total = before + plan.Missing
	}
	if w.Job, err = a.Submit(ctx); err != nil {
		return w, err
	}
	p.line("job %s has %d workers; script, logs and records are in %s", w.Job, len(own), j.folder)
	return w, files.WriteJSON(filepath.Join(j.folder, workName), w)
}

func readWork(folder string) (w submitted, err error) {
	const limit = 1 << 20
	text, err := files.Read(filepath.Join(folder, workName), "a file that revgnn wrote", limit)
	if err == nil {
		err = json.Unmarshal(text, &w)
	}
	return w, err
}

func of(queue []slurm.Worker, job string) (own []slurm.Worker) {
	for _, w := range queue {
		if w.Job == job {
			own = append(own, w)
		}
	}
	return own
}

// standing counts workers, and says why the first of those that wait does.
func standing(own []slurm.Worker) (running, waiting int, reason string) {
	for _, w := range own {
		if w.Waits() {
			waiting++
			reason = cmp.Or(reason, w.Reason)
		}
	}
	return len(own) - waiting, waiting, reason
}

// state is what 'revgnn jobs' shows of work on a cluster.
type state struct {
	Name string `json:"name"`
	submitted
	Running int    `json:"workers_running"`
	Waiting int    `json:"workers_waiting"`
	Reason  string `json:"reason,omitempty"`
	Done    int    `json:"records"`
	Failed  int    `json:"failed"`
	// Seconds is the estimated time to the end, or 0 if it is not known.
	Seconds float64 `json:"seconds_left"`
}

// work is 'revgnn jobs', which alone is 'revgnn jobs list'.
func (a *app) work() *cobra.Command {
	var share string
	list := &cobra.Command{Use: "list [flags]", Short: "Show work that is on Slurm", Args: noArguments,
		Long: "Shows the work that --on slurm gave to Slurm: how many workers run and wait, how many runs are recorded and\n" +
			"failed, and when it ends at this pace."}
	list.RunE = func(c *cobra.Command, _ []string) error {
		queue, err := slurm.Queue(c.Context())
		if err != nil {
			return err
		}
		all, err := states(share, queue)
		if err != nil {
			return err
		}
		return a.show(all, func(w io.Writer) { statesTable(w, all, share) })
	}
	cancel := &cobra.Command{Use: "cancel NAME", Short: "End the workers of some work; what they recorded stays",
		Args: oneArgument("a name that 'revgnn jobs' shows")}
	cancel.RunE = func(c *cobra.Command, args []string) error {
		dir := filepath.Join(share, args[0])
		w, err := readWork(dir)
		if err != nil {
			return err
		}
		w.Cancelled = true
		if err := files.WriteJSON(filepath.Join(dir, workName), w); err != nil {
			return err
		}
		return slurm.Cancel(c.Context(), w.Job)
	}
	collect := &cobra.Command{Use: "collect NAME", Short: "Take the records that workers left into the file of run records",
		Args: oneArgument("a name that 'revgnn jobs' shows")}
	a.runsFlag(collect.Flags())
	collect.RunE = a.records(runs.Open, func(s *runs.Store, args []string) error {
		dir := filepath.Join(share, args[0], recordsName)
		if _, err := os.Stat(dir); err != nil {
			return fmt.Errorf("there is no work by this name: %w", err)
		}
		f, err := runs.OpenFolder(dir)
		if err != nil {
			return err
		}
		added, err := f.Collect(s)
		if err != nil {
			return err
		}
		return a.show(moved{dir, s.Path(), added, 0}, func(w io.Writer) {
			fmt.Fprintf(w, "records added to %s: %d\n", s.Path(), added)
		})
	})
	c := group("jobs", "Work that is on Slurm", list, cancel, collect)
	shareFlag(c.PersistentFlags(), &share)
	none := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return list.RunE(c, nil)
		}
		return none(c, args)
	}
	return c
}

func states(share string, queue []slurm.Worker) (all []state, err error) {
	all = []state{}
	found, err := filepath.Glob(filepath.Join(share, "*", workName))
	for _, path := range found {
		dir := filepath.Dir(path)
		s := state{Name: filepath.Base(dir)}
		if s.submitted, err = readWork(dir); err != nil {
			return nil, err
		}
		s.Running, s.Waiting, s.Reason = standing(of(queue, s.Job))
		f, err := runs.OpenFolder(filepath.Join(dir, recordsName))
		if err != nil {
			return nil, err
		}
		if s.Done, s.Failed, _, err = f.Count(s.At); err != nil {
			return nil, err
		}
		if left := s.Total - s.Before - s.Done; left > 0 && s.Done > 0 {
			s.Seconds = time.Since(s.At).Seconds() / float64(s.Done) * float64(left)
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b state) int { return b.At.Compare(a.At) })
	return all, err
}

func statesTable(w io.Writer, all []state, share string) {
	if len(all) == 0 {
		fmt.Fprintf(w, "no work on Slurm in %s\n", share)
		return
	}
	fmt.Fprintln(w, "name\tjob\trunning\twaiting\truns\tfailed\tleft\tcommand")
	for _, s := range all {
		left, waiting := "–", fmt.Sprint(s.Waiting)
		if s.Seconds > 0 {
			left = runs.Duration(s.Seconds)
		}
		if s.Reason != "" {
			waiting += " (" + s.Reason + ")"
		}
		done := fmt.Sprint(s.Done)
		if s.Total > 0 {
			done += fmt.Sprintf(" of %d", s.Total-s.Before)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%d\t%s\t%s\n", s.Name, s.Job, s.Running, waiting, done, s.Failed, left,
			files.Printable(strings.Join(s.Command, " ")))
	}
}
