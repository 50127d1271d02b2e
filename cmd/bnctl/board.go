package main

import (
	"errors"
	"syscall"

	"github.com/bnctl/bnctl/train"
)

// shown returns what is told the events of the run: the progress, and with
// --log-dir an event file.
func (t *trainer) shown(p *progress) (func(train.Event), error) {
	folder := t.logDir
	if folder == "" {
		return p.event, nil
	}
	var err error
	if t.board, err = train.OpenBoard(folder); diskFull(err) {
		t.out.note("--log-dir %s: %v; the run goes on without", folder, err)
		return p.event, nil
	} else if err != nil {
		return nil, err
	}
	return func(e train.Event) {
		p.event(e)
		t.board.Show(e)
	}, nil
}

// diskFull reports whether there was no room for a file: no reason not to train.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// closeBoard says if the event file is not what it should be; that is no
// reason to lose a run.
func (t *trainer) closeBoard() {
	if t.board == nil {
		return
	}
	if err := t.board.Close(); err != nil {
		t.out.note("--log-dir %s: %v; some figures are missing there", t.logDir, err)
	}
}
