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
	"github.com/revgnn/revgnn/pkg/host"
	"github.com/revgnn/revgnn/pkg/report/nb"
	"github.com/revgnn/revgnn/pkg/train"
)

// Fit does what [train.Fit] does, for the cell of a notebook. It shows a progress bar with the given title. All
// trainings of a notebook need different titles, since a training stores its state (the checkpoint) in a file with this
// name.
//
// The stop button ends the training after the current epoch, and then the cell. If the cell is run again before the
// kernel is restarted, the training resumes. (The kernel waits five seconds for the epoch to end. A longer epoch is
// lost, and the training resumes from the last checkpoint, which is at most some minutes old.) If there is an error,
// Fit panics, so that the cell fails with the message.
func Fit(title string, e *engine.Engine, g *graphs.Graph, split int, c train.Config) *train.Result {
	ctx, stop := host.Interruptible(context.Background())
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
	if by, is := host.InterruptOf(ctx); is && r.Status == train.Interrupted {
		bar.Done(r.Message + "; run the cell again to go on from there")
		os.Exit(by.Status())
	}
	if o.Checkpoint != nil {
		os.Remove(o.Checkpoint.Path)
	}
	bar.Done(fmt.Sprintf("%d epochs, test %s %.3f", r.Epochs, metric, r.Test))
	return r
}

// titles has the names of metrics that users see.
var titles = map[string]string{data.ROCAUC: "ROC-AUC", data.Accuracy: "accuracy"}
