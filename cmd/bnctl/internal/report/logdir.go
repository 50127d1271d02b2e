package report

import (
	"context"
	"errors"
	"syscall"

	"github.com/bnctl/bnctl/train"
)

// Open creates the event files in the folder. If the disk is full, it writes a note, and the run continues
// without these files.
func (l *Log) Open() (err error) {
	if l.folder == "" {
		return nil
	}
	l.board, err = train.OpenBoard(l.folder, func(text string) { l.note("--log-dir %s: %s", l.folder, text) })
	if diskFull(err) {
		l.note("--log-dir %s: %v; the run continues without", l.folder, err)
		return nil
	}
	return err
}

// diskFull reports whether there was no space for a file. In this case the training continues.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Event writes an event to the event files if they are open, and stores it for the page.
func (l *Log) Event(e train.Event) {
	if l.board != nil {
		l.board.Show(e)
		l.Show(e)
	}
}

// End writes the page about the run. If this fails, it writes a note; the run is not affected.
func (l *Log) End(ctx context.Context) {
	if err := l.Write(context.WithoutCancel(ctx)); err != nil {
		l.note("--log-dir %s: %v; the page of the run is missing there", l.folder, err)
	} else if page := l.Page(); page != "" {
		l.note("the page of the run: %s", page)
	}
}

// Close closes the event files. It writes a note if they are incomplete.
func (l *Log) Close() {
	if l.board == nil {
		return
	}
	if err := l.board.Close(); err != nil {
		l.note("--log-dir %s: %v; some figures are missing there", l.folder, err)
	}
}
