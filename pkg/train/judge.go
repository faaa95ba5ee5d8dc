package train

import (
	"fmt"
	"math"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/revgnn/revgnn/pkg/metrics"
	"github.com/revgnn/revgnn/pkg/models"
	"github.com/revgnn/revgnn/pkg/sparse"
)

// judgeStep computes metrics after a training step: by an evaluation those after this epoch, or from the step's logits
// those after the previous one (see [fit.run]).
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

// logits are those of the present weights.
func (f *fit) logits() ([]float32, error) {
	out, err := f.evaluate.Call(f.inputs...)
	if err != nil {
		return nil, fmt.Errorf("the evaluation failed on %s: %w", f.engine.Name, err)
	}
	defer release(out)
	logits, err := tensors.CopyFlatData[float32](out[0])
	if f.explain(out[1]) != "" {
		// judge computes no metrics from NaN.
		logits = slices.Repeat([]float32{float32(math.NaN())}, len(logits))
	}
	return logits, err
}

// judge computes the metrics after an epoch from logits in the model's order, and keeps the weights if they are the best.
// params are the parameters of the logits; nil stands for the present values.
func (f *fit) judge(epoch int, logits []float32, params []*tensors.Tensor) error {
	r := f.result
	logits = sparse.Restore(f.model.Order, logits, f.model.Outputs)
	metric := Metric(f.graph)
	finite := !slices.ContainsFunc(logits, func(v float32) bool { return v != v || math.IsInf(float64(v), 0) })
	val, test := math.NaN(), math.NaN()
	if finite {
		var err error
		if val, err = metrics.Evaluate(metric, logits, f.model.Outputs, f.graph.Labels, f.split.Val); err != nil {
			return fmt.Errorf("graph %q, split %d, validation: %w", f.graph.Name, r.Split, err)
		}
		if !none(f.split.Test) {
			test, err = metrics.Evaluate(metric, logits, f.model.Outputs, f.graph.Labels, f.split.Test)
			if err != nil {
				return fmt.Errorf("graph %q, split %d, test: %w", f.graph.Name, r.Split, err)
			}
		}
	}
	// In pretraining, metrics say little about the whole model: each of its epochs, and the first one after it, replaces
	// the best so far, and patience counts only later ones.
	if f.patience++; epoch <= f.config.Pretraining()+1 {
		f.patience = 0
		r.Val = Number(math.NaN())
	}
	if finite && !(val <= float64(r.Val)) {
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
		weights[models.NameOf(v)] = Array{v.Shape().Dimensions, flat}
	}
	f.result.Weights = weights
	return nil
}
