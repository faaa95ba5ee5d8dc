// Package live trains networks in the cells of a notebook, with progress bars. The stop button of the notebook stops
// the training.
package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/data"
	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/report/nb"
	"github.com/revgnn/revgnn/pkg/train"
)

// Fit trains a network by [train.Fit] in a cell of a notebook, and shows a progress bar with the given title. Each
// training of a notebook needs a title of its own: the title is also the name of the file in which the training stores
// its checkpoints. A checkpoint is the state from which an interrupted training resumes.
//
// The stop button ends the training after the current epoch, and then ends the cell. Before the training ends, it
// stores a checkpoint. If the cell is run again before the kernel is restarted, the training resumes from this
// checkpoint. (But the kernel waits only five seconds for the current epoch to end. If the epoch takes longer, the
// training resumes from an earlier checkpoint, which is at most some minutes old.)
//
// If there is an error, Fit panics, so that the cell fails with the message of the error.
func Fit(title string, e *engine.Engine, g *graphs.Graph, split int, c train.Config) *train.Result {
	ctx, stop := machine.Interruptible(context.Background())
	defer stop()
	bar, metric := nb.Progress(title), titles[train.Metric(g)]
	o := &train.Options{Epoch: func(at train.Epoch) {
		bar.Update(float64(at.Epoch)/float64(at.Epochs), fmt.Sprintf("epoch %d of %d: loss %.3f, best validation %s %.3f",
			at.Epoch, at.Epochs, at.Loss, metric, at.BestVal))
	}}
	if nb.Folder() != "" {
		path := filepath.Join(nb.Folder(), filepath.Base(title)+".checkpoint")
		o.Checkpoint = &train.Checkpoint{Path: path, Replace: true}
	}
	r := nb.Must(train.Fit(ctx, e, g, split, c, o))
	if by, is := machine.InterruptOf(ctx); is && r.Status == train.Interrupted {
		bar.Done(r.Message + "; run the cell again to go on from there")
		os.Exit(by.Status())
	}
	if o.Checkpoint != nil {
		os.Remove(o.Checkpoint.Path)
	}
	bar.Done(fmt.Sprintf("%d epochs, test %s %.3f", r.Epochs, metric, r.Test))
	return r
}

// titles has the names of the metrics as users see them.
var titles = map[string]string{data.ROCAUC: "ROC-AUC", data.Accuracy: "accuracy"}
