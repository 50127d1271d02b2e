package remote

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// words keeps the last of what a plugin writes to standard error, and hands
// whole lines on.
type words struct {
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

func newWords(log func(string)) *words { return &words{log: log, end: make(chan struct{})} }

// Write takes what the plugin wrote.
func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = append(w.kept, p...)
	if over := len(w.kept) - keptBytes; over > 0 {
		w.kept = append(w.kept[:0], w.kept[over:]...)
	}
	if w.log != nil {
		w.hand(p)
	}
	return len(p), nil
}

// hand gives complete lines to the log; a line without end is cut.
func (w *words) hand(p []byte) {
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
func (w *words) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(w.kept)), "\n")
	if len(lines) > lastLines {
		lines = lines[len(lines)-lastLines:]
	}
	return strings.Join(lines, "\n")
}

// hear returns r such that what is read from it is kept.
func (w *words) hear(r io.ReadCloser) io.ReadCloser { return &ear{r, w} }

type ear struct {
	from  io.ReadCloser
	words *words
}

// Read reads and keeps.
func (e *ear) Read(p []byte) (int, error) {
	n, err := e.from.Read(p)
	_, _ = e.words.Write(p[:n])
	if err != nil {
		e.words.close()
	}
	return n, err
}

func (e *ear) Close() error { return e.from.Close() }

func (w *words) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.end:
	default:
		close(w.end)
	}
}
