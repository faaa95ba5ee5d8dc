package train

import "time"

// Options of a training; nil are none.
type Options struct {
	// Epoch, if set, is called after every epoch.
	Epoch func(Epoch)
	// Checkpoint, if set, is where the training's state is kept, and from where it goes on.
	Checkpoint *Checkpoint
	// Notice, if set, is told, in a sentence, what becomes of checkpoints: that a training goes on from one, why it does
	// not, or that one could not be written.
	Notice func(text string)
	// Until, if above zero, stops a training after so many epochs, with a checkpoint, unless it ends before; its result,
	// so far, has the status [Paused]. The same training with another Until goes on from there. Every stop costs a
	// step for judging.
	Until int
}

// Checkpoint is a file with the state of a training under way: all variables of its program (parameters, Adam's
// moments, running statistics, the state of the random numbers), the best parameters so far, the history, and what
// early stopping knows. A training that finds one goes on from it, and ends, on the same engine and machine, with the
// numbers that it would have ended with unbroken, bit for bit, but for times.
//
// The file is written from time to time and where the training is interrupted, always whole (see [files.Write]). It
// stays when the training has ended: who asked for it removes it, after the result is safe. Only one training at a
// time may have it.
type Checkpoint struct {
	Path string
	// Every is the least time between two; 0 stands for [CheckpointEvery].
	Every time.Duration
	// Versions, by name, of what the numbers depend on beside graph, split, configuration and engine: a training does
	// not go on from a state that others made.
	Versions map[string]string
	// Replace starts over where the file has the state of something else; otherwise that is an [OriginError].
	Replace bool
}

// CheckpointEvery is the time between two checkpoints: what a crash can cost.
const CheckpointEvery = 2 * time.Minute

// every is the time to the next checkpoint after one that took some time to write: on a slow disk, they are rarer.
func (c *Checkpoint) every(took time.Duration) time.Duration {
	const most = 20 // checkpoints take less than a twentieth of the time
	every := c.Every
	if every == 0 {
		every = CheckpointEvery
	}
	return max(every, most*took)
}
