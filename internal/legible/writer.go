package legible

import (
	"bytes"
	"io"
)

// Writer applies Text to each line that is written. It holds text back up to the end of its line.
type Writer struct {
	To   io.Writer
	line []byte // line that has not ended
}

// Write implements io.Writer.
func (w *Writer) Write(b []byte) (int, error) {
	w.line = append(w.line, b...)
	for {
		end := bytes.IndexByte(w.line, '\n')
		if end < 0 {
			return len(b), nil
		}
		if _, err := io.WriteString(w.To, Text(string(w.line[:end]))+"\n"); err != nil {
			return 0, err
		}
		w.line = w.line[end+1:]
	}
}
