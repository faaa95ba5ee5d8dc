package train

import "time"

// Options are the options of a training. A nil pointer stands for the zero value.
type Options struct {
	// Epoch, if set, is called after every epoch.
	Epoch func(Epoch)
	// Checkpoint, if set, says where the training keeps its state, from which it is resumed.
	Checkpoint *Checkpoint
	// Notice, if set, is called with a sentence about checkpoints: that the training goes on from one, why it does not,
	// or that one could not be written.
	Notice func(text string)
	// Until, if above zero, pauses the training after so many epochs, with a checkpoint and the status [Paused]. The
	// same training with a larger Until, or with 0, goes on from this checkpoint. A pause may cost one additional step,
	// which computes the metrics of the last epoch.
	Until int
}

// Checkpoint is a file with the state of an unfinished training: all variables of its program (parameters, Adam's
// moments, running statistics, the state of the random numbers), the best parameters so far, the history, and the
// counters of early stopping. A training that finds such a file goes on from it. On the same engine and machine it ends
// with the numbers of an uninterrupted training, bit for bit, except times and memory.
//
// The file is written regularly and on interruption. It is always complete, even if the process is killed while writing
// (see [files.Write]). It is not removed when the training has ended: the caller removes it as soon as the result is
// safe. Only one training at a time may use it.
type Checkpoint struct {
	Path string
	// Every is the least time between two checkpoints; 0 stands for [CheckpointEvery].
	Every time.Duration
	// Versions are the versions, by name, of everything else that the numbers depend on, besides graph, split,
	// configuration and engine. A training does not go on from a file with other versions.
	Versions map[string]string
	// Replace says what happens if the file holds the state of another training: if set, training starts from the
	// beginning and overwrites the file; if not, it fails with an [OriginError].
	Replace bool
}

// CheckpointEvery is the default time between two checkpoints: a crash loses at most the work since the last one.
const CheckpointEvery = 2 * time.Minute

// every is the time to wait until the next checkpoint, if the last one took the time took to write. Slow disks get
// fewer checkpoints.
func (c *Checkpoint) every(took time.Duration) time.Duration {
	const most = 20 // checkpoints take less than a twentieth of the time
	every := c.Every
	if every == 0 {
		every = CheckpointEvery
	}
	return max(every, most*took)
}
