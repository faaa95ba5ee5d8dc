package train

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/solve"
)

// Metric is the name of the metric by which models of the graph are judged: ROC-AUC if the graph has two classes,
// otherwise accuracy (paper section 4.1.2).
func Metric(g *graphs.Graph) string {
	if g.NumClasses == 2 {
		return data.ROCAUC
	}
	return data.Accuracy
}

// Fit trains a model on one split of a graph by full-batch Adam. The result has the weights of the epoch with the best
// validation metric. If ctx is cancelled, training stops after the current epoch, and the result has the status
// [Interrupted]. In this case the training first writes a checkpoint, if the [Options] ask for checkpoints. If the loss
// is not finite any more, training stops, and the result has the status [Diverged]. If Fit returns an error, there is
// no result.
func Fit(ctx context.Context, e *engine.Engine, g *graphs.Graph, split int, c Config,
	o *Options) (result *Result, err error) {
	defer recovered(&err)
	if o == nil {
		o = &Options{}
	}
	s, err := newSession(e, g, split, c)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if none(s.split.Val) {
		return nil, fmt.Errorf("graph %q: split %d has no validation nodes, which early stopping needs", g.Name, split)
	}
	now := time.Now()
	f := &fit{session: s, started: now, options: o,
		result: &Result{Split: split, Seed: c.Seed + uint64(split), Threads: e.Threads, Outputs: s.model.Outputs,
			Began: now.UTC().Round(0), // without the monotonic clock, which a checkpoint cannot keep
			Val:   Number(math.NaN()), Test: Number(math.NaN()), Status: OK}}
	if err := f.run(ctx); err != nil {
		return nil, err
	}
	f.finish()
	return f.result, nil
}

// fit is a running training. stepper is the program of the training step. evaluate is the program of the evaluation, or
// nil if the model needs none. seconds has the times of the steps so far. solve is the number of iterations of all
// solves so far. adjoint is the number of iterations of all adjoint solves so far. patience is the number of epochs
// since the validation metric last improved.
type fit struct {
	*session
	options *Options
	started time.Time
	// before is the time in seconds that the training took before it was resumed from a checkpoint.
	before   float64
	result   *Result
	stepper  *model.Exec
	evaluate *model.Exec
	seconds  []float64
	solve    float64
	adjoint  float64
	patience int
}

// run is the loop over epochs. The metrics after an epoch need the logits that the model computes with the parameters
// after this epoch. Many models compute the same in training mode and in evaluation mode. Such a model needs no
// evaluations, since each training step computes logits before it changes the parameters: the logits of step k+1 give
// the metrics after epoch k. After the last epoch, one additional step computes the logits. All other models are
// evaluated after each epoch.
func (f *fit) run(ctx context.Context) (err error) {
	if ctx.Err() != nil {
		f.interrupted()
		return nil
	}
	if err := f.start(); err != nil {
		return err
	}
	defer f.stepper.Finalize()
	if f.Separate {
		if err := f.startEvaluation(); err != nil {
			return err
		}
		defer f.evaluate.Finalize()
	}
	saver, err := newSaver(f, f.options.Checkpoint)
	if err != nil {
		return err
	}
	if err := saver.resume(); err != nil {
		return err
	}
	for epoch := f.result.Epochs + 1; ; epoch++ {
		why := f.stops(ctx, epoch)
		saver.save(why != "") // This comes before the additional step, which changes the parameters.
		over, err := f.turn(epoch, why != "")
		switch {
		case why == Interrupted && f.result.Status == OK:
			f.interrupted()
		case why == Paused && f.result.Status == OK:
			f.result.Status = Paused
		}
		if over || err != nil {
			return err
		}
	}
}

// stops returns the status with which training must stop before the given epoch: [Interrupted] or [Paused]. It returns
// "" if training goes on, or if it has run all epochs.
func (f *fit) stops(ctx context.Context, epoch int) string {
	switch {
	case epoch > f.config.Epochs:
		return ""
	case ctx.Err() != nil:
		return Interrupted
	case f.options.Until > 0 && epoch > f.options.Until:
		return Paused
	}
	return ""
}

// turn makes one pass of the loop over epochs. Training ends with this pass if stop is true, or if all epochs have been
// run before. Such a pass is no further epoch: it makes only the additional step that some models need after the last
// epoch (see [fit.run]). The result over is true if training has ended.
func (f *fit) turn(epoch int, stop bool) (over bool, err error) {
	last := stop || epoch > f.config.Epochs
	if last && (f.Separate || epoch == 1) {
		return true, nil
	}
	over, err = f.epoch(epoch, last)
	return over || last || f.config.Patience > 0 && f.patience >= f.config.Patience, err
}

// interrupted marks the result as that of an interrupted training.
func (f *fit) interrupted() {
	f.result.Status, f.result.Message = Interrupted, fmt.Sprintf("interrupted after %d epochs", f.result.Epochs)
}

// notice passes a message to the function [Options].Notice, if there is one.
func (f *fit) notice(format string, args ...any) {
	if f.options.Notice != nil {
		f.options.Notice(fmt.Sprintf(format, args...))
	}
}

// elapsed is the time in seconds that the training has taken so far.
func (f *fit) elapsed() float64 { return f.before + time.Since(f.started).Seconds() }

// epoch makes one step of the optimiser, and then calls judgeStep, which computes metrics. If last is true, the step is
// the additional step after the last epoch (see [fit.run]), and is not counted as an epoch. Of this step, only the
// logits are used. The step computes them with the parameters after the last epoch, so that they give the metrics of
// the last epoch. The result over is true if training has diverged.
func (f *fit) epoch(epoch int, last bool) (over bool, err error) {
	out, took, err := f.one()
	if err != nil {
		return true, err
	}
	defer release(out)
	if why := f.explain(out[outOutcome]); why != "" {
		f.result.Status, f.result.Message = Diverged, fmt.Sprintf("epoch %d: %s", epoch, why)
		return true, nil
	}
	loss := float64(tensors.ToScalar[float32](out[outLoss]))
	if !last {
		f.account(epoch, loss, out, took)
	}
	if err := f.judgeStep(epoch, out); err != nil {
		return true, err
	}
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		f.result.Status = Diverged
		f.result.Message = fmt.Sprintf("the loss was not finite in epoch %d: "+
			"lower --lr or --lipschitz, or raise --max-iterations", epoch)
		return true, nil
	}
	return false, nil
}

// start builds the program of the training step, and compiles it.
func (f *fit) start() (err error) {
	start := time.Now()
	if f.stepper, err = model.NewExec(f.engine.Backend, f.store, f.step); err != nil {
		return fmt.Errorf("the training step cannot be built: %w", err)
	}
	if err := f.compile(f.stepper, "training step"); err != nil {
		f.stepper.Finalize()
		return err
	}
	f.result.CompileSeconds = time.Since(start).Seconds()
	return nil
}

// one runs the training step once. It returns the step's outputs and the seconds that the step took.
func (f *fit) one() ([]*tensors.Tensor, float64, error) {
	start := time.Now()
	out, err := f.stepper.Call(f.inputs...)
	if err != nil {
		return nil, 0, fmt.Errorf("a training step failed on %s: %w", f.engine.Name, err)
	}
	tensors.ToScalar[float32](out[outLoss]) // ToScalar waits until the engine has finished.
	return out, time.Since(start).Seconds(), nil
}

// account records what a training step returned. It adds the numbers of iterations to the totals, keeps the residuals
// and the step's time, and appends an entry for the epoch to the history. The metrics in this entry are still missing:
// [fit.judge] writes them later.
func (f *fit) account(epoch int, loss float64, out []*tensors.Tensor, took float64) {
	r := f.result
	r.Epochs++
	f.seconds = append(f.seconds, took)
	solve := float64(tensors.ToScalar[int32](out[outIterations]))
	told := tensors.MustCopyFlatData[float32](out[outAdjoint])
	adjoint := float64(told[0])
	f.solve += solve
	f.adjoint += adjoint
	r.Residual = Number(tensors.ToScalar[float32](out[outResidual]))
	r.ResidualLayer = int(tensors.ToScalar[int32](out[outLayer]))
	r.AdjointResidual = Number(told[1])
	e := Epoch{Epoch: epoch, Epochs: f.config.Epochs, Loss: Number(loss), Val: Number(math.NaN()),
		Test: Number(math.NaN()), Seconds: took}
	if layers := float64(f.Solves); layers > 0 {
		e.Iterations, e.Residual = Iterations{solve / layers, adjoint / layers}, r.Residual
	}
	r.History = append(r.History, e)
}

// finish fills in the fields of the result that are known only at the end: times, memory, mean numbers of iterations,
// and a warning if solves did not converge.
func (f *fit) finish() {
	r := f.result
	r.Seconds = f.elapsed()
	r.PeakRSS, r.PredictedBytes = max(r.PeakRSS, peakRSS()), max(r.PredictedBytes, f.predicted)
	if len(f.seconds) > 0 {
		rest := f.seconds
		if len(rest) > 1 {
			rest = rest[1:]
		}
		r.EpochSeconds = metrics.Median(rest)
	}
	if layers := float64(r.Epochs * f.Solves); layers > 0 {
		r.Iterations = Iterations{f.solve / layers, f.adjoint / layers}
	}
	if r.Status == OK && f.config.Reverse > 0 && f.config.Tolerance > 0 {
		r.Message = f.unconverged()
	}
}

// unconverged returns a warning if a solve or an adjoint solve of the last epoch reached the limit of iterations before
// it met the tolerance. If a solve did not meet the tolerance, a reverse layer is not quite the inverse of the forward
// layer. If an adjoint solve did not meet the tolerance, the gradients are not quite exact. If there is nothing to warn
// of, unconverged returns "".
func (f *fit) unconverged() string {
	r, c := f.result, f.config
	const remedy = "raise --max-iterations, or lower --lipschitz"
	switch {
	case !(float64(r.Residual) <= c.Tolerance):
		return fmt.Sprintf("in the last epoch, %d iterations left reverse layer %d of %d "+
			"with a residual of %.2g, above the tolerance of %g: %s",
			c.MaxIterations, r.ResidualLayer+1, c.Reverse, r.Residual, c.Tolerance, remedy)
	case !(float64(r.AdjointResidual) <= solve.AdjointFactor*c.Tolerance):
		return fmt.Sprintf("in the last epoch, %d iterations left an adjoint solve "+
			"with a relative residual of %.2g, above the tolerance of %g: %s",
			c.MaxIterations, r.AdjointResidual, solve.AdjointFactor*c.Tolerance, remedy)
	}
	return ""
}
