package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/problem"
)

// greeting stores the first line that a plugin prints, to explain a failed handshake. Later output is
// passed to printed. All output must be read, because otherwise the plugin would block.
type greeting struct {
	mu      sync.Mutex
	line    []byte
	full    bool    // the maximum length has been stored
	ended   bool    // the line is complete
	printed *output // receives the lines after it
}

// greetingBytes is the maximum stored length of the first line. It is enough for an error
// message.
const greetingBytes = 256

// tee returns a reader of r that also records the first line.
func (g *greeting) tee(r io.ReadCloser) io.ReadCloser { return &greetingReader{r, g} }

// greetingReader gives go-plugin the first line and nothing else.
type greetingReader struct {
	io.ReadCloser
	greeting *greeting
}

// Read reads up to the first end of a line. After that it blocks until r ends with an error.
func (r *greetingReader) Read(p []byte) (int, error) {
	for {
		n, err := r.ReadCloser.Read(p)
		rest := r.greeting.take(p[:n])
		if greets := n - len(rest); greets > 0 || err != nil {
			_, _ = r.greeting.printed.Write(rest)
			return greets, err
		}
		_, _ = r.greeting.printed.Write(rest)
	}
}

// take records the part of p that belongs to the first line and returns the rest. A line
// can arrive in several reads, and one read can hold both the end of the line and output
// after it.
func (g *greeting) take(p []byte) (rest []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return p
	}
	i := bytes.IndexByte(p, '\n')
	if i < 0 {
		g.add(p)
		return nil
	}
	g.add(p[:i])
	g.full, g.ended = true, true
	return p[i+1:]
}

// add stores the first line, up to greetingBytes.
func (g *greeting) add(p []byte) {
	if g.full {
		return
	}
	if free := greetingBytes - len(g.line); len(p) >= free {
		p, g.full = p[:free], true
	}
	g.line = append(g.line, p...)
}

// errSilent reports that there is no greeting: the process printed nothing, or closed its
// output. Its exit status explains more in that case.
var errSilent = errors.New("it printed nothing")

// complaint describes the fault in the greeting, or returns nil if it has no fault. It has the fields of
// go-plugin's handshake:
//
//	1 | 1 | unix | /tmp/plugin123 | grpc |
//	│   │                           └ the protocol of calls
//	│   └ the version of the device protocol
//	└ the version of the handshake itself
func (g *greeting) complaint() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	fields := strings.Split(strings.TrimSpace(string(g.line)), "|")
	switch {
	case len(g.line) == 0:
		return errSilent
	case len(fields) < 5 || fields[0] != "1":
		return fmt.Errorf("it printed %.100q, which is no greeting of a device plugin", g.line)
	case fields[1] != fmt.Sprint(wire.Protocol):
		return problem.Advise("update one of them",
			"it speaks version %s of the device protocol, this bnctl speaks %d",
			fields[1], wire.Protocol)
	case fields[4] != "grpc":
		return fmt.Errorf("it speaks %q, want grpc", fields[4])
	}
	return nil
}
