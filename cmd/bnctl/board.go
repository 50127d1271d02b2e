package main

import (
	"context"
	"errors"
	"syscall"

	"github.com/bnctl/bnctl/train"
)

// events returns a function that passes the events of the run to the progress and, with
// --log-dir, to the files there.
func (t *trainer) events(p *progress) func(train.Event) {
	return func(e train.Event) {
		p.event(e)
		if t.board != nil {
			t.board.Show(e)
			t.page.Show(e)
		}
	}
}

// openBoard makes the files of --log-dir.
func (t *trainer) openBoard() (err error) {
	if t.logDir == "" {
		return nil
	}
	note := func(text string) { t.out.note("--log-dir %s: %s", t.logDir, text) }
	if t.board, err = train.OpenBoard(t.logDir, note); diskFull(err) {
		t.out.note("--log-dir %s: %v; the run continues without", t.logDir, err)
		return nil
	}
	return err
}

// writePage writes the page of the run into --log-dir. A failure is only noted: it must not cost a run.
func (t *trainer) writePage(ctx context.Context) {
	if err := t.page.Write(context.WithoutCancel(ctx)); err != nil {
		t.out.note("--log-dir %s: %v; the page of the run is missing there", t.logDir, err)
	} else if page := t.page.Page(); page != "" {
		t.out.note("the page of the run: %s", page)
	}
}

// diskFull reports whether the disk was too full for a file: no reason not to train.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// closeBoard notes if the event file is incomplete. This must not cost a run.
func (t *trainer) closeBoard() {
	if t.board == nil {
		return
	}
	if err := t.board.Close(); err != nil {
		t.out.note("--log-dir %s: %v; some figures are missing there", t.logDir, err)
	}
}
