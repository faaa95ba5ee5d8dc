package train

import (
	"time"

	"github.com/revgnn/revgnn/pkg/models"
)

// Config has the settings of a model and of its training.
type Config = models.Config

// Default has the default settings of a model and of its training.
func Default(model string) Config { return models.Default(model) }

// Options are the options of [Fit]; nil stands for none.
type Options struct {
	// Epoch is called after every epoch.
	Epoch func(Epoch)
	// Checkpoint says where the training saves its state, and is resumed from.
	Checkpoint *Checkpoint
	// Notice is called with a sentence about checkpoints: that and why the training is resumed or not, or that one
	// could not be written.
	Notice func(text string)
	// Until, if above 0, pauses the training after this number of epochs, with a checkpoint and the status [Paused].
	// The same training with a larger Until, or 0, goes on from there. After writing it, the training may run a step
	// that only computes the metrics of the last epoch.
	Until int
}

// Checkpoint is a file with the state of a training that can go on: all variables of the training program (parameters,
// Adam's moments, running statistics, the random number generator), the best weights so far, the history, and the
// counters of early stopping. On the same engine and machine, a resumed training gives the same numbers as an
// uninterrupted one, bit for bit, except times and memory. It may have another number of epochs than the file's
// training, unless the schedule depends on it ([Origin.OtherLength]).
//
// The file is written regularly and at an interruption, as a whole or not at all ([files.Write]). The caller removes it
// after storing the result. Two trainings must not use the same file at the same time.
type Checkpoint struct {
	Path string
	// Every is the least time between two checkpoints. 0 stands for [CheckpointEvery].
	Every time.Duration
	// Versions are those of the software on which results depend. A training is not resumed from a file with others.
	Versions map[string]string
	// Last also writes the file after the last epoch, unless the training has stopped early: with more epochs, the
	// training goes on from there.
	Last bool
	// Replace starts over, and overwrites the file, if it has the state of another training. Else this is an
	// [OriginError].
	Replace bool
}

// CheckpointEvery is the default time between two checkpoints.
const CheckpointEvery = 2 * time.Minute

// every is the time until the next checkpoint, given that of writing the last one.
func (c *Checkpoint) every(took time.Duration) time.Duration {
	const most = 20 // checkpoints take less than a twentieth of the time
	every := c.Every
	if every == 0 {
		every = CheckpointEvery
	}
	return max(every, most*took)
}
