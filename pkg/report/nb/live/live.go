// Package live trains in the cells of a notebook, with progress bars and the notebook's stop button.
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

// Fit is [train.Fit] for a cell. It shows a progress bar with a title. Other trainings in the same kernel need other
// titles, since the title is the name of the checkpoint. The stop button ends the training after the current epoch, and
// then the cell. When the cell is run again in the same kernel, training resumes. (The kernel gives an epoch five
// seconds to end. A longer epoch is lost, and training resumes from the last checkpoint, at most some minutes old.) Fit
// panics with errors, as [nb.Must] does.
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

// titles are the names of metrics that users see.
var titles = map[string]string{data.ROCAUC: "ROC-AUC", data.Accuracy: "accuracy"}
