package train

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/solve"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// Metric is what a graph's models are judged by: ROC-AUC for two classes, else accuracy (paper section 4.1.2).
func Metric(g *graphs.Graph) string {
	if g.NumClasses == 2 {
		return data.ROCAUC
	}
	return data.Accuracy
}

// Fit trains a model on one split of a graph: full-batch Adam, with the parameters of the best validation metric
// kept. observe, if not nil, is called after every epoch. Where ctx is cancelled, training stops after the epoch in
// flight and the result has the status [Interrupted]; where the loss is no longer finite, [Diverged]. An error
// means that there is no result.
func Fit(ctx context.Context, e *engine.Engine, g *graphs.Graph, split int, c Config,
	observe func(Epoch)) (result *Result, err error) {
	defer recovered(&err)
	s, err := newSession(e, g, split, c)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if none(s.split.Val) {
		return nil, fmt.Errorf("graph %q: split %d has no validation nodes, which early stopping needs", g.Name, split)
	}
	f := &fit{session: s, started: time.Now(), observe: observe,
		result: &Result{Split: split, Seed: c.Seed + uint64(split), Outputs: s.model.Outputs,
			Val: Number(math.NaN()), Test: Number(math.NaN()), Status: OK}}
	if err := f.run(ctx); err != nil {
		return nil, err
	}
	f.finish()
	return f.result, nil
}

// fit is a training under way.
type fit struct {
	*session
	started  time.Time
	observe  func(Epoch)
	result   *Result
	stepper  *model.Exec
	evaluate *model.Exec
	seconds  []float64
	solve    float64
	adjoint  float64
	patience int
}

// run is the loop over epochs. Where evaluation does not differ from training, a step's logits are those of
// evaluation, so that the step of epoch k+1 tells the validation metric after epoch k, and no evaluation is needed but
// one more step at the end.
func (f *fit) run(ctx context.Context) (err error) {
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
	for epoch := 1; ; epoch++ {
		last := epoch > f.config.Epochs || ctx.Err() != nil
		if last && (f.Separate || epoch == 1) {
			break
		}
		over, err := f.epoch(epoch, last)
		if err != nil {
			return err
		}
		if over || last || f.config.Patience > 0 && f.patience >= f.config.Patience {
			break
		}
	}
	if ctx.Err() != nil && f.result.Status == OK {
		f.result.Status, f.result.Message = Interrupted, fmt.Sprintf("interrupted after %d epochs", f.result.Epochs)
	}
	return nil
}

// epoch makes one step and judges the parameters that it tells about; the last step is for judging alone. It tells
// whether training is over, since it diverged.
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
		f.account(out, took)
		f.result.History = append(f.result.History,
			Epoch{Epoch: epoch, Epochs: f.config.Epochs, Loss: Number(loss), Val: Number(math.NaN()), Seconds: took})
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

// judgeStep judges the parameters after a step, by an evaluation, or, where that would be the same, those
// before it, by its logits.
func (f *fit) judgeStep(epoch int, out []*tensors.Tensor) error {
	if f.Separate {
		logits, err := f.logits()
		if err != nil {
			return err
		}
		return f.judge(epoch, logits, nil)
	}
	if epoch == 1 {
		return nil
	}
	logits, err := tensors.CopyFlatData[float32](out[outLogits])
	if err != nil {
		return err
	}
	return f.judge(epoch-1, logits, out[outParams:])
}

// startEvaluation builds the evaluation and compiles it.
func (f *fit) startEvaluation() (err error) {
	f.evaluate, err = model.NewExec(f.engine.Backend, f.store, func(scope *model.Scope, in []*Node) []*Node {
		b := f.build(scope, in, false)
		return []*Node{b.Logits, b.Stats.Outcome}
	})
	if err != nil {
		return fmt.Errorf("the evaluation cannot be built: %w", err)
	}
	if err := f.compile(f.evaluate, "evaluation"); err != nil {
		f.evaluate.Finalize()
		return err
	}
	return nil
}

// start builds the training step and compiles it.
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

// one runs the step.
func (f *fit) one() ([]*tensors.Tensor, float64, error) {
	start := time.Now()
	out, err := f.stepper.Call(f.inputs...)
	if err != nil {
		return nil, 0, fmt.Errorf("a training step failed on %s: %w", f.engine.Name, err)
	}
	tensors.ToScalar[float32](out[outLoss]) // waits for the engine
	return out, time.Since(start).Seconds(), nil
}

// account adds up a step's times and iterations.
func (f *fit) account(out []*tensors.Tensor, took float64) {
	r := f.result
	r.Epochs++
	f.seconds = append(f.seconds, took)
	f.solve += float64(tensors.ToScalar[int32](out[outIterations]))
	f.adjoint += float64(tensors.ToScalar[int32](out[outAdjointIterations]))
	r.Residual = Number(tensors.ToScalar[float32](out[outResidual]))
	r.ResidualLayer = int(tensors.ToScalar[int32](out[outLayer]))
	r.AdjointResidual = Number(tensors.ToScalar[float32](out[outAdjointResidual]))
}

// logits evaluates the model as it is.
func (f *fit) logits() ([]float32, error) {
	out, err := f.evaluate.Call(f.inputs...)
	if err != nil {
		return nil, fmt.Errorf("the evaluation failed on %s: %w", f.engine.Name, err)
	}
	defer release(out)
	logits, err := tensors.CopyFlatData[float32](out[0])
	if f.explain(out[1]) != "" {
		// Not to be judged; the next step says why.
		logits = slices.Repeat([]float32{float32(math.NaN())}, len(logits))
	}
	return logits, err
}

// judge measures logits, in the adjacency's order, of the parameters after an epoch, and keeps those that improve on
// the validation metric. params are those parameters; nil for the store's.
func (f *fit) judge(epoch int, logits []float32, params []*tensors.Tensor) error {
	r := f.result
	logits = sparse.Restore(f.model.Order, logits, f.model.Outputs)
	metric := Metric(f.graph)
	finite := !slices.ContainsFunc(logits, func(v float32) bool { return v != v || math.IsInf(float64(v), 0) })
	val := math.NaN()
	if finite {
		var err error
		if val, err = metrics.Evaluate(metric, logits, f.model.Outputs, f.graph.Labels, f.split.Val); err != nil {
			return fmt.Errorf("graph %q, split %d, validation: %w", f.graph.Name, r.Split, err)
		}
	}
	f.patience++
	if finite && !(val <= float64(r.Val)) {
		f.patience = 0
		r.BestEpoch, r.Val, r.Logits = epoch, Number(val), logits
		if !none(f.split.Test) {
			test, err := metrics.Evaluate(metric, logits, f.model.Outputs, f.graph.Labels, f.split.Test)
			if err != nil {
				return fmt.Errorf("graph %q, split %d, test: %w", f.graph.Name, r.Split, err)
			}
			r.Test = Number(test)
		}
		if err := f.keep(params); err != nil {
			return err
		}
	}
	known := &r.History[epoch-1]
	known.Val, known.BestVal = Number(val), r.Val
	if f.observe != nil {
		f.observe(*known)
	}
	return nil
}

// keep copies the model's variables to the host; params are the values of the trainable ones, nil for the store's.
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
		weights[models.NameOf(v)] = Array{v.Shape().Dimensions, flat}
	}
	f.result.Weights = weights
	return nil
}

// finish fills in the totals.
func (f *fit) finish() {
	r := f.result
	r.Seconds = time.Since(f.started).Seconds()
	r.PeakRSS, r.PredictedBytes = peakRSS(), f.predicted
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

// unconverged warns where iterations of the last epoch ended before they met the tolerance, so that reverse layers are
// not quite the inverses of forward layers, or gradients not quite theirs.
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
