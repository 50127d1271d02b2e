package main

import (
	"cmp"
	"context"

	"github.com/bnctl/bnctl"
	reports "github.com/bnctl/bnctl/cmd/bnctl/internal/report"
	"github.com/bnctl/bnctl/internal/interrupt"
)

// trainer is one run of the command train.
type trainer struct {
	out       *output
	options   bnctl.TrainOptions // options by the values of the flags
	progress  *progress
	begin     func() error // is called before the first step
	view      *bool        // whether to show a view; nil: if stderr is a terminal
	findLR    bool         // only try learning rates, and write nothing
	page      *reports.Log // log that writes the page into --log-dir
	statement statement    // statement to write about the template; may be nil
}

// logIn makes the run write events and a page into the folder LogDir of its options, if there is one.
func (t *trainer) logIn(o *bnctl.TrainOptions) {
	folder := o.LogDir
	if folder == bnctl.NoLogDir {
		folder = ""
	}
	if t.page = reports.NewLog(folder, t.out.note); folder != "" {
		o.Norms, o.Details = true, true
	}
}

// run trains, and shows the progress. change sets those fields of the recipe that the flags set.
func (t *trainer) run(ctx context.Context, o bnctl.TrainOptions, change recipeChange) error {
	saved := func() {}
	defer func() { saved() }()
	defer func() { t.page.Close() }()
	t.progress = newProgress(t.out, t.view, legibly(cmp.Or(o.Resume, o.Model+"  "+o.Data)))
	defer t.progress.stop()
	o.Observer, t.options = t, o
	t.logIn(&o)
	t.begin = func() error {
		saved = interrupt.Saving(ctx)
		if o.Peers != nil && o.Peers.Rank() > 0 {
			return nil // only rank 0 receives the events of all ranks
		}
		return t.page.Open()
	}
	r, err := bnctl.Open(ctx, o)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := change(r.Recipe()); err != nil {
		return err
	}
	if t.findLR {
		found, err := r.FindLR(ctx)
		if err == nil {
			t.progress.stop()
			reportRates(t.out, found)
		}
		return err
	}
	_, err = r.Train(ctx)
	saved() // everything is saved; the page is made from these files
	saved = func() {}
	t.page.End(ctx)
	if err != nil {
		return err
	}
	return writeStatement(t.out, t.statement)
}
