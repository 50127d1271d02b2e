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

// greeting keeps the first line that a plugin prints: where a handshake goes
// wrong, it says why.
type greeting struct {
	mu   sync.Mutex
	line []byte
	full bool
}

const greetingBytes = 256

func (g *greeting) tee(r io.ReadCloser) io.ReadCloser { return &greetingReader{r, g} }

type greetingReader struct {
	io.ReadCloser
	greeting *greeting
}

// Read reads, and keeps up to the first end of a line.
func (r *greetingReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.greeting.add(p[:n])
	return n, err
}

func (g *greeting) add(p []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.full {
		return
	}
	i := bytes.IndexByte(p, '\n')
	if i >= 0 {
		p, g.full = p[:i], true
	}
	if room := greetingBytes - len(g.line); len(p) >= room {
		p, g.full = p[:room], true
	}
	g.line = append(g.line, p...)
}

// errSilent says that there is no greeting.
var errSilent = errors.New("it printed nothing")

// complaint says what is wrong with the greeting; nil if nothing is.
func (g *greeting) complaint() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	parts := strings.Split(strings.TrimSpace(string(g.line)), "|")
	switch {
	case len(g.line) == 0:
		return errSilent
	case len(parts) < 5 || parts[0] != "1":
		return fmt.Errorf("it printed %.100q, which is no greeting of a device plugin", g.line)
	case parts[1] != fmt.Sprint(wire.Protocol):
		return problem.Advise("update one of them",
			"it speaks version %s of the device protocol, this bnctl speaks %d",
			parts[1], wire.Protocol)
	case parts[4] != "grpc":
		return fmt.Errorf("it speaks %q, want grpc", parts[4])
	}
	return nil
}
