//go:build unix

package waiting

import (
	"io"
	"os"
	"os/signal"
	"syscall"
)

// continuations returns a channel that receives a signal when the program continues after a
// stop, for example by Ctrl-Z and fg. The caller calls end. A writer that is not a file is
// not a terminal: the channel is nil.
func continuations(w io.Writer) (signals <-chan os.Signal, end func()) {
	if _, ok := w.(*os.File); !ok {
		return nil, func() {}
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGCONT)
	return c, func() { signal.Stop(c) }
}
