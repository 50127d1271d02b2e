package remote

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// output keeps the last of what a plugin writes to standard error, and hands
// whole lines on.
type output struct {
	mu   sync.Mutex
	kept []byte
	line []byte
	log  func(string)
	end  chan struct{} // closed when the plugin can write no more
}

const (
	keptBytes = 4 << 10
	lastLines = 6
	lineBytes = 16 << 10
)

func newOutput(log func(string)) *output { return &output{log: log, end: make(chan struct{})} }

// Write takes what the plugin wrote.
func (w *output) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = append(w.kept, p...)
	if over := len(w.kept) - keptBytes; over > 0 {
		w.kept = append(w.kept[:0], w.kept[over:]...)
	}
	if w.log != nil {
		w.logLines(p)
	}
	return len(p), nil
}

// logLines gives complete lines to the log; a line without end is cut.
func (w *output) logLines(p []byte) {
	w.line = append(w.line, p...)
	for {
		i := bytes.IndexByte(w.line, '\n')
		if i < 0 && len(w.line) < lineBytes {
			return
		}
		if i < 0 {
			i = len(w.line) - 1
		}
		w.log(strings.TrimRight(string(w.line[:i+1]), "\r\n"))
		w.line = append(w.line[:0], w.line[i+1:]...)
	}
}

// last returns the last lines, "" if there are none.
func (w *output) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(w.kept)), "\n")
	if len(lines) > lastLines {
		lines = lines[len(lines)-lastLines:]
	}
	return strings.Join(lines, "\n")
}

// tee returns r such that what is read from it is kept.
func (w *output) tee(r io.ReadCloser) io.ReadCloser { return &outputReader{r, w} }

type outputReader struct {
	from   io.ReadCloser
	output *output
}

// Read reads and keeps.
func (e *outputReader) Read(p []byte) (int, error) {
	n, err := e.from.Read(p)
	_, _ = e.output.Write(p[:n])
	if err != nil {
		e.output.close()
	}
	return n, err
}

func (e *outputReader) Close() error { return e.from.Close() }

func (w *output) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.end:
	default:
		close(w.end)
	}
}
