package main

import (
	"bytes"
	"io"

	"github.com/bnctl/bnctl/internal/legible"
)

// csvTo returns a writer of CSV. On a terminal control characters in names are written as escape
// sequences; a file gets them as they are.
func csvTo(w io.Writer) io.Writer {
	if isTerminal(w) {
		return &legibleLines{w: w}
	}
	return w
}

// legibleLines replaces control characters, except for the ends of lines. It holds text back up to
// the end of its line.
type legibleLines struct {
	w    io.Writer
	line []byte // that has not ended
}

// Write implements io.Writer.
func (l *legibleLines) Write(b []byte) (int, error) {
	l.line = append(l.line, b...)
	for {
		end := bytes.IndexByte(l.line, '\n')
		if end < 0 {
			return len(b), nil
		}
		if _, err := io.WriteString(l.w, legible.Text(string(l.line[:end]))+"\n"); err != nil {
			return 0, err
		}
		l.line = l.line[end+1:]
	}
}
