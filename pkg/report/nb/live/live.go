// Package live trains networks in the cells of a notebook, with progress bars. The stop button of the notebook stops
// the training.
package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/revgnn/revgnn/pkg/engine"
	"github.com/revgnn/revgnn/pkg/graphs"
	"github.com/revgnn/revgnn/pkg/machine"
	"github.com/revgnn/revgnn/pkg/report/nb"
	"github.com/revgnn/revgnn/pkg/train"
)

// said are the notices that the cell has printed: networks that are compared have most in common.
var said = map[string]bool{}

// Fit trains by [train.Fit] under a progress bar, and prints its notices. The title names its checkpoint's file, too,
// and must be unique in the notebook.
//
// The stop button ends the training after the current epoch, with a checkpoint, and then the cell; run again before the
// kernel restarts, the cell goes on from there. (The kernel waits five seconds for the epoch; after that an earlier
// checkpoint counts, some minutes old at most.)
//
// Fit fails as [nb.Check] does.
func Fit(title string, e *engine.Engine, g *graphs.Graph, split int, c train.Config) *train.Result {
	ctx, stop := machine.Interruptible(context.Background())
	defer stop()
	bar, metric := nb.Progress(title), train.Metric(c, g).Title
	notice := func(text string) {
		if !said[text] {
			fmt.Println(text)
		}
		said[text] = true
	}
	o := &train.Options{Notice: notice, Epoch: func(at train.Epoch) {
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
