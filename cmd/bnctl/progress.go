package main

import (
	"os"
	"strings"

	"github.com/bnctl/bnctl/cmd/bnctl/internal/live"
	"github.com/bnctl/bnctl/cmd/bnctl/internal/view"
	"github.com/bnctl/bnctl/train"
)

// progress shows a training run: as JSON lines, as a view or a live line on a terminal, or as plain lines.
type progress struct {
	out  *output
	live display // nil if nothing is drawn
}

// display is a drawing of a run that is drawn again when the run continues.
type display interface {
	Event(train.Event)
	Moment(train.Moment)
	Stop()
}

// newProgress begins to show a run. asked states whether a view is shown; nil means the default.
func newProgress(o *output, requested *bool, title string) *progress {
	p := &progress{out: o}
	if o.draws && view.Wanted(requested, o.stderr, os.Getenv) {
		p.live = view.New(o.stderr, title, o.colours)
	}
	if requested != nil && *requested && !o.draws {
		o.note("--view: it needs a terminal")
	}
	return p
}

// event shows one event.
func (p *progress) event(e train.Event) {
	p.out.event(e.Event(), e)
	if p.live != nil {
		p.live.Event(e)
	}
	switch e := e.(type) {
	case train.Started:
		p.start(e)
	case train.Stepped:
		if p.live == nil {
			p.out.noteFolded("%s", live.Text(e))
		}
	case train.EpochDone:
		p.epoch(e)
	case train.DeviceLost:
		p.out.noteFolded("device %s lost at step %d: %s; %s", e.Device, e.Step, e.Reason, e.Successors())
	case train.DeviceBack:
		p.out.noteFolded("device %s is back at step %d", e.Device, e.Step)
	case train.DeviceJoined:
		p.out.noteFolded("device %s joins at step %d", e.Device, e.Step)
	case train.StageMoved:
		p.out.noteFolded("the layers of stage %d, %s to %s, go to %s at step %d", e.Stage, e.First, e.Last,
			strings.Join(e.To, ", "), e.Step)
	case train.AtHost:
		p.out.noteFolded("devices exchange through bnctl at %s: %s", e.Level, e.Reason)
	case train.Placed:
		p.out.noteFolded("replicas were placed anew, by speed: %s", e.Placement())
	case train.StoppedEarly:
		p.stoppedEarly(e)
	case train.Finished:
		p.stop()
		reportTrained(p.out, e)
	case train.CheckpointWritten:
		if p.out.verbose {
			p.out.noteFolded("checkpoint %s at step %d", e.Path, e.Step)
		}
	}
}

func (p *progress) start(e train.Started) {
	for _, line := range e.Lines() {
		p.out.noteFolded("%s", line)
	}
	p.out.noteFolded("%s", e.Where())
	if p.out.draws && p.live == nil {
		p.live = live.New(p.out.stderr, e)
	}
}

// watch shows the progress of the run at a moment.
func (p *progress) watch(m train.Moment) {
	if p != nil && p.live != nil {
		p.live.Moment(m)
	}
}

// stop removes the view.
func (p *progress) stop() {
	if p.live != nil {
		p.live.Stop()
		p.live = nil
	}
}

func (p *progress) epoch(e train.EpochDone) {
	for _, line := range e.Lines(p.out.verbose) {
		p.out.noteFolded("%s", inFlags(line))
	}
}
