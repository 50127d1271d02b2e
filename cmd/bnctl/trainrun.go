package main

import (
	"cmp"
	"context"

	"github.com/bnctl/bnctl"
	reports "github.com/bnctl/bnctl/cmd/bnctl/internal/report"
	"github.com/bnctl/bnctl/internal/interrupt"
	"github.com/bnctl/bnctl/train"
)

// trainer is one call of bnctl train.
type trainer struct {
	out       *output
	logDir    string       // for TensorBoard; ""
	view      *bool        // whether to show a view; nil: where it can be seen
	board     *train.Board // of logDir; nil
	findLR    bool         // try learning rates, and write nothing
	page      *reports.Log // of logDir
	statement statement    // to write about the template; nil
}

// logIn makes the run write into the folder that its options name, if they do.
func (t *trainer) logIn(o *bnctl.TrainOptions) {
	if t.logDir = o.LogDir; t.logDir == bnctl.NoLogDir {
		t.logDir = ""
	}
	if t.page = reports.NewLog(t.logDir); t.logDir != "" {
		o.Norms, o.Observe, o.Evaluated = true, t.page.Observe, t.page.Evaluated
	}
}

// run trains, and shows the progress. change sets the fields of the recipe that the flags set.
func (t *trainer) run(ctx context.Context, o bnctl.TrainOptions, change recipeChange) error {
	saved := func() {}
	defer func() { saved() }()
	defer t.closeBoard()
	p := newProgress(t.out, t.view, legibly(cmp.Or(o.Resume, o.Model+"  "+o.Data)))
	defer p.stop()
	o.Observer, o.Events, o.Watch = t.observer(o), t.statement.Observe(t.events(p)), p.watch
	t.logIn(&o)
	o.Observer.Resumed = func(o *bnctl.TrainOptions) {
		o.LogEvery = cmp.Or(o.LogEvery, 10) // of an older checkpoint
		t.logIn(o)
	}
	o.Observer.Begin = func() error {
		saved = interrupt.Saving(ctx)
		if o.Peers != nil && o.Peers.Rank() > 0 {
			return nil // rank 0 has the events of all
		}
		return t.openBoard()
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
			p.stop()
			reportRates(t.out, found)
		}
		return err
	}
	_, err = r.Train(ctx)
	saved() // the page is made from files that are already saved
	saved = func() {}
	t.writePage(ctx)
	if err != nil {
		return err
	}
	return writeStatement(t.out, t.statement)
}
