package train

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/train/optimizer"
)

// These are the defaults of torch.optim.lr_scheduler.ReduceLROnPlateau, but for the factor, which is 0.1 there.
const (
	plateauFactor    = 0.5
	plateauPatience  = 10
	plateauThreshold = 1e-4
	plateauLeast     = 1e-8
)

// rate is the learning rate of an epoch's step, counted from 1, after the epochs of the history. In the W epochs of the
// warm-up it is epoch/W of the setting. Then, of E epochs in all, it is
//
//	constant  lr
//	cosine    lr (1 + cos(π (epoch - W - 1) / (E - W))) / 2 (Loshchilov and Hutter, ICLR 2017; as torch's
//	          CosineAnnealingLR)
//	plateau   lr, halved whenever the validation metric has not become better, by a ten-thousandth at least, for more
//	          than 10 epochs (as torch's ReduceLROnPlateau(factor=0.5)); warm-up and pretraining do not count
func (f *fit) rate(epoch int, history []Epoch) float64 {
	c := f.config
	if epoch <= c.Warmup {
		return c.LearningRate * float64(epoch) / float64(c.Warmup)
	}
	switch c.Schedule {
	case "cosine":
		return c.LearningRate * (1 + math.Cos(math.Pi*float64(epoch-c.Warmup-1)/float64(c.Epochs-c.Warmup))) / 2
	case "plateau":
		rate, best, bad := c.LearningRate, math.Inf(-1), 0
		for _, e := range history[min(len(history), max(c.Warmup, c.Pretraining())):] {
			gain := f.metric.Gain(float64(e.Val))
			if gain > best+plateauThreshold*math.Abs(best) || math.IsInf(best, -1) && gain > best {
				best, bad = gain, 0
			} else if bad++; bad > plateauPatience {
				bad = 0
				if lower := plateauFactor * rate; rate-lower > plateauLeast {
					rate = lower
				}
			}
		}
		return rate
	}
	return c.LearningRate
}

// setRate sets the learning rate of the epoch's step, unless it is that of all.
func (f *fit) setRate(epoch int) error {
	if f.config.Schedule == "constant" && f.config.Warmup == 0 {
		return nil
	}
	rate := f.rate(epoch, f.result.History)
	variable := optimizer.LearningRateVar(f.store.RootScope(), dtypes.Float32, f.config.LearningRate)
	return variable.SetValue(tensors.FromScalar(float32(rate)))
}
