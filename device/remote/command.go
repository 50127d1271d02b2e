package remote

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"os"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/internal/awake"
)

// Command describes how to start a plugin.
type Command struct {
	Name string   // name of the plugin in errors: "cuda"
	Path string   // the executable
	Args []string // its arguments
	Env  []string // additional environment variables: KEY=VALUE
	// SHA256 is the required SHA-256 of the executable, in hexadecimal; "" disables the check. The
	// checked file is the file that runs, even if it is replaced in the meantime.
	SHA256 string
	// Greeting is the line that a running plugin has printed at its start, for example in a debugger;
	// "" starts Path. The host does not end a process that it has not started, and uses it at level
	// stream/1. The process can open one device in its life.
	Greeting string
	// TLS is the configuration of the connection if the devices are on another machine. Greeting is
	// then made by GreetingOf. nil: the plugin is a process of this machine.
	TLS *tls.Config
	// Levels are the permitted levels (transports) of sessions; nil permits
	// all.
	Levels []string
	// Timeout bounds the start, until the plugin has described itself. 0 means one minute, because
	// a program is slow to load on a busy machine.
	Timeout time.Duration
	// Slow is called with a sentence when a sixth of Timeout has passed. It may be nil.
	Slow func(text string)
	// OpenTimeout bounds Open, which may have to initialize a device or compile its
	// kernels. 0 means one minute.
	OpenTimeout time.Duration
	// Log is called with the lines that the plugin writes to standard error. It
	// may be nil.
	Log func(line string)
	// Printed is called with each line that the plugin prints to standard output after its
	// greeting, although it should not print any. It may be nil.
	Printed func(line string)

	counter *counter // measures the connections with another machine; nil for a process of this machine

	files []*os.File // inherited after the files of its session
}

const (
	// startTimeout bounds the start of a plugin.
	startTimeout = time.Minute
	// answerTimeout bounds calls that do not use a device.
	answerTimeout = 10 * time.Second
	// openTimeout bounds Open: a driver may compile its kernels there.
	openTimeout = time.Minute
	// grace is the time that a call may continue after its context has ended. A device that
	// does not answer by then is lost.
	grace = 10 * time.Second
)

// timeout returns Timeout or its default.
func (c *Command) timeout() time.Duration { return cmp.Or(c.Timeout, startTimeout) }

// watch calls Slow if a start is slow, unless stop is called first.
func (c *Command) watch() (stop func()) {
	if c.Slow == nil {
		return func() {}
	}
	after := c.timeout() / 6
	return awake.AfterFunc(after, func() {
		c.Slow(fmt.Sprintf("plugin %s: %s is slow to start: no answer for %v, waiting for up to %v", c.Name, c.Path,
			after, c.timeout()))
	}).Stop
}

// opening returns OpenTimeout or its default.
func (c *Command) opening() time.Duration { return cmp.Or(c.OpenTimeout, openTimeout) }

// allows reports whether a session may run at a level (transport).
func (c *Command) allows(level string) bool {
	if c.Levels == nil {
		return true
	}
	for _, l := range c.Levels {
		if l == level {
			return true
		}
	}
	return false
}

// fail returns an error of starting or querying the plugin.
func (c *Command) fail(call string, k device.Kind, format string, args ...any) error {
	what := "plugin "
	if c.TLS != nil {
		what = "machine "
	}
	return device.Errorf(what+c.Name, call, k, format, args...)
}
