package remote

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// attachKey lists plugins that are already running, for example in a debugger, as comma-separated items
// NAME=GREETING. GREETING is the line that the plugin printed when it was started.
const attachKey = "BNCTL_REATTACH_DEVICES"

// attached lists the plugins of attachKey. An author starts the plugin in a debugger, and
// bnctl connects to it as if bnctl had started it:
//
//	$ bnctl-device-mine debug                     prints 1|1|unix|/tmp/plugin123|grpc|
//	$ BNCTL_REATTACH_DEVICES='mine=1|1|unix|/tmp/plugin123|grpc|' bnctl train --devices mine
//
// The line is written into the pipe that the handshake is read from, so that all later
// steps are the same as for other plugins. The plugin process shares no memory with this
// process, and its session runs at stream/1.
//
// An item without a name or a greeting is an error: without its greeting, a plugin would be
// an executable that does not exist.
func attached() ([]Found, error) {
	text := os.Getenv(attachKey)
	if text == "" {
		return nil, nil
	}
	var out []Found
	for _, item := range strings.Split(text, ",") {
		name, greeting, _ := strings.Cut(item, "=")
		name, greeting = strings.TrimSpace(name), strings.TrimSpace(greeting)
		if name == "" || greeting == "" {
			return nil, fmt.Errorf("%s: %.80q: want NAME=GREETING", attachKey, item)
		}
		out = append(out, Found{Name: name, greeting: greeting})
	}
	return out, nil
}

// attachment represents a process that another program has started. greeting is the greeting that it
// has printed. Releasing the attachment leaves the process running.
type attachment struct {
	greeting string
	released chan struct{}
	once     sync.Once
}

func (a *attachment) release() { a.once.Do(func() { close(a.released) }) }

// newAttached does the same as newProcess for a process that is already running. Only the connection is
// used: the process's standard files belong to the program that started it.
func newAttached(c *Command, w *output) (*process, error) {
	p := &process{exited: make(chan struct{}), reaped: make(chan struct{}), output: w,
		greeted: &greeting{printed: newOutput(nil)}}
	p.attachment = &attachment{greeting: c.Greeting, released: make(chan struct{})}
	p.cmd = &exec.Cmd{Path: c.Name}
	return p, p.pipes()
}
