package train

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/solve"
)

// Fit trains a model on one split by full-batch Adam. The result has the weights of the epoch with the best validation
// metric. If ctx is cancelled, training stops after the current epoch, with a checkpoint if one is asked for and the
// status [Interrupted]. If the loss is not finite any more, the status is [Diverged].
func Fit(ctx context.Context, e *engine.Engine, g *graphs.Graph, split int, c Config,
	o *Options) (result *Result, err error) {
	defer models.Recovered(&err)
	if o == nil {
		o = &Options{}
	}
	s, err := newSession(e, g, split, c)
	if err != nil {
		return nil, err
	}
	defer s.close()
	// What a schedule knows of an epoch is its metric, which must be there before the next step.
	s.Separate = s.Separate || c.Schedule == "plateau"
	if c.Warmup >= c.Epochs {
		return nil, fmt.Errorf("warmup is %d: choose fewer than the %d epochs", c.Warmup, c.Epochs)
	}
	if none(s.split.Val) {
		return nil, fmt.Errorf("graph %q: split %d has no validation nodes, which early stopping needs", g.Name, split)
	}
	untaught, err := g.Untaught(split)
	if err != nil {
		return nil, err
	}
	if err := Judges(c, g, split); err != nil {
		return nil, err
	}
	if len(untaught) > 0 {
		s.notes = append(s.notes, "warning: no training node is of the class "+strings.Join(untaught, ", ")+
			", which is never predicted")
	}
	now := time.Now()
	f := &fit{session: s, started: now, options: o, metric: Metric(c, g),
		result: &Result{Split: split, Seed: c.Seed + uint64(split), Threads: e.Threads, Outputs: s.model.Outputs,
			Began: now.UTC().Round(0), // without the monotonic clock, which a checkpoint cannot keep
			Val:   Number(math.NaN()), Test: Number(math.NaN()), Status: OK}}
	for _, text := range s.notes {
		f.notice("%s", text)
	}
	if err := f.run(ctx); err != nil {
		return nil, err
	}
	f.finish()
	if f.result.BestEpoch > 0 {
		f.result.Measures, err = measuresOf(g, s.split, f.result.Logits, f.result.Outputs)
	}
	return f.result, err
}

// fit is a running training. evaluate is nil if the model needs none. seconds are the times of steps, solve and adjoint
// the iterations of all solves and adjoint solves so far, and patience the epochs since the validation metric last
// improved.
type fit struct {
	*session
	options  *Options
	metric   metrics.Measure
	started  time.Time
	before   float64 // seconds before the training was resumed
	result   *Result
	stepper  *model.Exec
	evaluate *model.Exec
	seconds  []float64
	solve    float64
	adjoint  float64
	patience int
}

// run is the loop over epochs. A step computes logits before it changes the parameters. Where a model computes the same
// in training and in evaluation mode, those of step k+1 give the metrics after epoch k, and an additional step those of
// the last one. Other models are evaluated after each epoch.
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
		f.evaluate, err = f.program("evaluation", func(scope *model.Scope, in []*Node) []*Node {
			b := f.build(scope, in, false)
			return []*Node{b.Logits, b.Stats.Outcome}
		})
		if err != nil {
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
		saver.save(why != "") // before the additional step, which changes the parameters
		last, over, err := why != "" || epoch > f.config.Epochs, true, error(nil)
		if !last || !f.Separate && epoch > 1 {
			over, err = f.epoch(epoch, last)
			over = over || last || f.config.Patience > 0 && f.patience >= f.config.Patience
		}
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

// stops is the status with which training stops before an epoch, or "".
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

func (f *fit) interrupted() {
	f.result.Status, f.result.Message = Interrupted, fmt.Sprintf("interrupted after %d epochs", f.result.Epochs)
}

func (f *fit) notice(format string, args ...any) {
	if f.options.Notice != nil {
		f.options.Notice(fmt.Sprintf(format, args...))
	}
}

// elapsed is the time of the training so far, in seconds.
func (f *fit) elapsed() float64 { return f.before + time.Since(f.started).Seconds() }

// epoch makes a step and computes metrics. Of the additional step, last, only the logits are used. over tells whether
// training has diverged.
func (f *fit) epoch(epoch int, last bool) (over bool, err error) {
	if err := f.setRate(epoch); err != nil {
		return true, fmt.Errorf("epoch %d: the learning rate cannot be set: %w", epoch, err)
	}
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

// start compiles the training step.
func (f *fit) start() (err error) {
	start := time.Now()
	if f.stepper, err = f.program("training step", f.step); err != nil {
		return err
	}
	f.result.CompileSeconds = time.Since(start).Seconds()
	return nil
}

// one runs the training step, and returns its outputs and seconds.
func (f *fit) one() ([]*tensors.Tensor, float64, error) {
	start := time.Now()
	out, err := f.stepper.Call(f.inputs...)
	if err != nil {
		return nil, 0, fmt.Errorf("a training step failed on %s: %w", f.engine.Name, err)
	}
	tensors.ToScalar[float32](out[outLoss]) // waits until the engine has finished
	return out, time.Since(start).Seconds(), nil
}

// account records what a step returned, with an entry of the history whose metrics [fit.judge] writes later.
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

// finish fills in times, memory and mean iterations, and a warning if solves did not converge.
func (f *fit) finish() {
	r := f.result
	r.Prepared, r.Seconds = f.by, f.elapsed()
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

// unconverged is a warning if solves of the last epoch missed the tolerance, so that a reverse layer is not quite an
// inverse, or adjoint solves, so that gradients are not quite exact.
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

// judgeStep computes metrics after a training step: by an evaluation those after this epoch, or from the step's logits
// those after the previous one (see [fit.run]).
func (f *fit) judgeStep(epoch int, out []*tensors.Tensor) error {
	if !f.Separate {
		if epoch == 1 {
			return nil
		}
		return f.judge(epoch-1, out[outLogits], true, out[outParams:])
	}
	out, err := f.evaluate.Call(f.inputs...)
	if err != nil {
		return fmt.Errorf("the evaluation failed on %s: %w", f.engine.Name, err)
	}
	defer release(out)
	return f.judge(epoch, out[0], f.explain(out[1]) == "", nil)
}

// judge computes the metrics after an epoch from its logits, unless they are not valid, and keeps the weights if they
// are the best. params are the parameters of the logits; nil stands for the present values.
func (f *fit) judge(epoch int, of *tensors.Tensor, valid bool, params []*tensors.Tensor) error {
	r, logits := f.result, f.rows(of)
	finite := valid && !slices.ContainsFunc(logits, func(v float32) bool { return v != v || math.IsInf(float64(v), 0) })
	val, test := math.NaN(), math.NaN()
	if finite {
		threshold := metrics.Even
		p, err := metrics.Select(logits, f.model.Outputs, f.graph.Labels, f.split.Val)
		if err == nil {
			threshold = f.metric.Threshold(p)
			val, err = f.metric.Of(p, threshold)
		}
		if err != nil {
			return fmt.Errorf("graph %q, split %d, validation: %w", f.graph.Name, r.Split, err)
		}
		if !none(f.split.Test) {
			if p, err = metrics.Select(logits, f.model.Outputs, f.graph.Labels, f.split.Test); err == nil {
				test, err = f.metric.Of(p, threshold)
			}
			if err != nil {
				return fmt.Errorf("graph %q, split %d, test: %w", f.graph.Name, r.Split, err)
			}
		}
	}
	// In pretraining, metrics say little about the whole model: each of its epochs, and the first one after it,
	// replaces the best so far, and patience counts only later ones.
	if f.patience++; epoch <= f.config.Pretraining()+1 {
		f.patience = 0
		r.Val = Number(math.NaN())
	}
	if finite && !(f.metric.Gain(val) <= f.metric.Gain(float64(r.Val))) {
		f.patience = 0
		r.BestEpoch, r.Val, r.Test, r.Logits = epoch, Number(val), Number(test), logits
		if err := f.keep(params); err != nil {
			return err
		}
	}
	known := &r.History[epoch-1]
	known.Val, known.Test, known.BestVal = Number(val), Number(test), r.Val
	if f.options.Epoch != nil {
		f.options.Epoch(*known)
	}
	return nil
}

// keep copies the weights for the result.
func (f *fit) keep(params []*tensors.Tensor) error {
	values := map[*model.Variable]*tensors.Tensor{}
	if params != nil {
		for i, v := range f.trainable() {
			values[v] = params[i]
		}
	}
	weights := map[string]Array{}
	for _, v := range f.Variables {
		t := values[v]
		if t == nil {
			var err error
			if t, err = v.Value(); err != nil {
				return err
			}
		}
		flat, err := tensors.CopyFlatData[float32](t)
		if err != nil {
			return err
		}
		weights[models.NameOf(v)] = Array{Shape: v.Shape().Dimensions, Values: flat}
	}
	f.result.Weights = weights
	return nil
}
