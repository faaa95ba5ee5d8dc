package train

import "time"

// Options are the options of [Fit]. A nil pointer stands for Options whose fields are all zero.
type Options struct {
	// Epoch, if not nil, is called after every epoch.
	Epoch func(Epoch)
	// Checkpoint, if not nil, says in which file the training saves its state. If this file exists, the training is
	// resumed from it.
	Checkpoint *Checkpoint
	// Notice, if not nil, is called with a sentence about checkpoints: that the training is resumed from one, why it is
	// not resumed, or that a checkpoint could not be written.
	Notice func(text string)
	// Until, if above 0, pauses the training after this number of epochs: the training writes a checkpoint, and its
	// result has the status [Paused]. If the same training is then run with a larger Until, or with 0, it is resumed
	// from this checkpoint. After writing the checkpoint, the training may run one additional step, which is not
	// counted as an epoch: it only computes the metrics of the last epoch.
	Until int
}

// Checkpoint describes a file with the state of an unfinished training. The state has:
//
//   - all variables of the training program: parameters, Adam's moments, running means and variances, and the state of
//     the random number generator;
//   - the weights of the best epoch so far;
//   - the history, which is the loss and the metrics of all epochs so far;
//   - the counters of early stopping.
//
// A training that finds such a file is resumed from it. On the same engine and machine, a resumed training gives the
// same numbers as an uninterrupted one, bit for bit, except times and memory.
//
// The file is written regularly, and also when the training is interrupted. The file is always complete, even if the
// process is killed while it writes the file (see [files.Write]). The training does not remove the file at its end: the
// caller removes it after storing the result. Two trainings must not use the same file at the same time.
type Checkpoint struct {
	Path string
	// Every is the least time between two checkpoints. 0 stands for [CheckpointEvery].
	Every time.Duration
	// Versions has the versions of all software on which the results of a training depend, such as Go and GoMLX. The
	// keys are the names of the software. A training is not resumed from a file with other versions.
	Versions map[string]string
	// Replace says what happens if the file has the state of another training. If Replace is true, the training starts
	// from the beginning and overwrites the file. Otherwise it fails with an [OriginError].
	Replace bool
}

// CheckpointEvery is the default time between two checkpoints. A crash loses the work since the last checkpoint.
const CheckpointEvery = 2 * time.Minute

// every is the time to wait until the next checkpoint. took is the time that writing the last checkpoint took. If
// writing is slow, fewer checkpoints are written.
func (c *Checkpoint) every(took time.Duration) time.Duration {
	const most = 20 // Checkpoints take less than a twentieth of the time of training.
	every := c.Every
	if every == 0 {
		every = CheckpointEvery
	}
	return max(every, most*took)
}
