package main

import (
	"cmp"

	"github.com/bnctl/bnctl"
	"github.com/bnctl/bnctl/train"
)

// Observe prints facts about a run, and forwards its events to the view and to the files of --log-dir.
func (t *trainer) Observe(e bnctl.Event) error {
	switch e := e.(type) {
	case bnctl.DataOpened:
		t.out.notes(flag(e.Option), e.Info.Notes())
	case bnctl.ModelMade:
		tellOfModel(t.out, e.Model, t.options.Start)
	case bnctl.SamplesHeldOut:
		t.out.notes("--val-split", e.Split.Notes())
	case bnctl.CopiesFound:
		t.out.event("copies", e.Copies)
		t.out.notes("--data", e.Copies.Notes("in the data for validation too"))
	case bnctl.Noted:
		t.out.noteOptions("%s", e.Text)
	case bnctl.OptionUnused:
		t.out.note("%v", asFlags(e.Reason))
	case bnctl.DevicesOpened:
		tellOfDevices(t.out, e.Fleet)
	case bnctl.Resumed:
		e.Options.LogEvery = cmp.Or(e.Options.LogEvery, 10) // checkpoints of older releases have 0 here
		t.logIn(e.Options)
	case bnctl.Begins:
		return t.begin()
	case bnctl.Divided:
		notePlan(t.out, e.Plan)
	case bnctl.Evaluates:
		*e.Observers = t.page.Observe()
	case train.Evaluated:
		t.page.Evaluated(e)
	case train.Moment:
		t.progress.watch(e)
	case train.Event:
		if m, ok := e.(train.Machines); ok && t.options.Plan {
			notePlan(t.out, m)
		}
		t.statement.Observe(e)
		t.progress.event(e)
		t.page.Event(e)
	}
	return nil
}
