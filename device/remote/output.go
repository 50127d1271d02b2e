package remote

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
)

// output keeps the last lines that a plugin writes to standard error, and passes whole lines to a log.
//
// The kept lines are for the error "the plugin process died: exit status 2; its last words: ...".
// A runtime that ends a program prints the reason in one line, and then a trace, which may be longer
// than everything that is kept. Therefore a line that looks like a reason is stored separately:
//
//	loading kernels                       log
//	panic: index out of range [5]         <── death: quoted first
//	goroutine 1 [running]:                    and a few of the lines that follow
//	…                                         200 lines more
//
// A program may continue after a line like this, for example if it catches an exception and logs it.
// After some more output the line does not count any more (deathExpires).
type output struct {
	mu   sync.Mutex
	tail []byte
	line []byte
	log  func(string)

	begun   []byte        // an unfinished line, which may be death
	death   string        // the line that explains why the program ends, or ""
	written int           // bytes written since death
	end     chan struct{} // closed when the plugin can no longer write
}

const (
	// tailBytes is the number of bytes that are stored.
	tailBytes = 4 << 10
	// lastLines is the number of lines that an error quotes.
	lastLines = 6
	// lineBytes is the maximum length of a line; longer ones are cut.
	lineBytes = 16 << 10
)

// newOutput returns an output. It passes its lines on to log unless log is nil.
func newOutput(log func(string)) *output { return &output{log: log, end: make(chan struct{})} }

// Write adds output of the plugin.
func (w *output) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noticeDeath(p)
	w.tail = append(w.tail, p...)
	if over := len(w.tail) - tailBytes; over > 0 {
		w.tail = append(w.tail[:0], w.tail[over:]...)
	}
	if w.log != nil {
		w.logLines(p)
	}
	return len(p), nil
}

// logLines passes complete lines to the log. It cuts a line that becomes too long, so that a plugin
// that never ends a line does not fill the memory.
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

// last returns the last lines, or "". If the program printed the reason of its end, and then a trace,
// last returns the lines from the reason on.
func (w *output) last() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(w.tail)), "\n")
	if w.death == "" || w.written > deathExpires {
		return strings.Join(lines[max(0, len(lines)-lastLines):], "\n")
	}
	for at, line := range slices.Backward(lines) {
		if strings.TrimRight(line, "\r") == w.death {
			return strings.Join(lastWords(lines[at:]), "\n")
		}
	}
	return w.death // so much output followed that the stored lines do not include death
}

// lastWords shortens lines that begin with the reason of an end. It also keeps the last lines, because
// Python and Node.js write the reason below the trace.
func lastWords(lines []string) []string {
	if len(lines) <= lastLines {
		return lines
	}
	if strings.HasPrefix(lines[0], "Traceback") {
		return append([]string{lines[0]}, lines[len(lines)-lastLines+1:]...)
	}
	return lines[:lastLines]
}

// deaths are the beginnings of lines that report why a program ends, as written by the runtimes
// of Go, Python, C++, Rust, the JVM, Node.js and .NET.
var deaths = []string{"panic:", "fatal error:", "Traceback (most recent call last)", "terminate called",
	"thread 'main' panicked", "Exception in thread", "Uncaught", "Unhandled exception"}

// thrown reports whether a line describes an exception, as Python and Node.js print it
// below or above the trace: "ValueError: ...".
func thrown(line string) bool {
	name, _, found := strings.Cut(line, ": ")
	return found && !strings.ContainsAny(name, " \t") &&
		(strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Exception"))
}

// memoryDeaths are parts of the lines that Go, C++ and Rust programs print if they end for lack of memory.
var memoryDeaths = []string{"out of memory", "cannot allocate memory", "bad_alloc", "memory allocation of"}

// ranOutOfMemory reports whether the program printed that it ran out of memory, for example
// because of a limit on its address space (ulimit -v).
func (w *output) ranOutOfMemory() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.written <= deathExpires && slices.ContainsFunc(memoryDeaths, func(d string) bool {
		return strings.Contains(w.death, d)
	})
}

// deathExpires is the number of bytes of output after death. A plugin that writes more than this and still
// runs has not ended for the reason in death.
const deathExpires = 256 << 10

// noticeDeath stores the last line that explains why the program ends.
func (w *output) noticeDeath(p []byte) {
	w.written += len(p)
	for len(p) > 0 {
		line, rest, whole := bytes.Cut(p, []byte{'\n'})
		if free := lineBytes - len(w.begun); len(line) <= free {
			w.begun = append(w.begun, line...)
		}
		if !whole {
			return
		}
		text := strings.TrimRight(string(w.begun), "\r")
		if thrown(text) || slices.ContainsFunc(deaths, func(d string) bool { return strings.HasPrefix(text, d) }) {
			w.death, w.written = text, len(rest)
		}
		p, w.begun = rest, w.begun[:0]
	}
}

// tee returns a reader of r that also writes everything it reads to w.
func (w *output) tee(r io.ReadCloser) io.ReadCloser { return &outputReader{r, w} }

// outputReader passes on the output that go-plugin reads and keeps a copy. It notes the
// end of the output.
type outputReader struct {
	r      io.ReadCloser
	output *output
}

// Read implements io.Reader.
func (e *outputReader) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	_, _ = e.output.Write(p[:n])
	if err != nil {
		e.output.close()
	}
	return n, err
}

func (e *outputReader) Close() error { return e.r.Close() }

// close records that the plugin can no longer write. It may be called twice.
func (w *output) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.end:
	default:
		close(w.end)
	}
}
