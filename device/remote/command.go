package remote

import (
	"cmp"
	"os"
	"time"

	"github.com/bnctl/bnctl/device"
)

// Command says how a plugin is started.
type Command struct {
	Name string   // what errors call the plugin: "cuda"
	Path string   // the executable
	Args []string // its arguments
	Env  []string // what it finds in its environment besides the usual: KEY=VALUE
	// SHA256 is the sum, in hexadecimal, that the executable must have; ""
	// checks nothing. The file that is summed is the file that runs.
	SHA256 string
	// Greeting is what a plugin printed that runs already, in a debugger for
	// example; "" starts Path. Such a process is never ended, is used at level
	// stream/1, and can open one device in its life.
	Greeting string
	// Levels are the levels of sessions that may be used; nil allows all.
	Levels []string
	// Timeout bounds the start, until the plugin has said what it is. 0 is 10 s.
	Timeout time.Duration
	// OpenTimeout bounds Open, which may have to wake a device up or to compile its
	// kernels. 0 is a minute.
	OpenTimeout time.Duration
	// Log takes the lines that the plugin writes to standard error. It may be nil.
	Log func(line string)

	files []*os.File // that it inherits behind those of its session
}

const (
	startTimeout = 10 * time.Second
	// answerTimeout bounds calls that touch no device.
	answerTimeout = 10 * time.Second
	openTimeout   = time.Minute
	// grace is how long a call may go on after its context has ended. A device
	// that does not answer by then is lost.
	grace = 10 * time.Second
)

func (c *Command) timeout() time.Duration { return cmp.Or(c.Timeout, startTimeout) }

func (c *Command) opening() time.Duration { return cmp.Or(c.OpenTimeout, openTimeout) }

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

// fail returns an error of starting or asking the plugin.
func (c *Command) fail(call string, k device.Kind, format string, args ...any) error {
	return device.Errorf("plugin "+c.Name, call, k, format, args...)
}
