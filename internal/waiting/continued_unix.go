//go:build unix

package waiting

import (
	"io"
	"os"
	"os/signal"
	"syscall"
)

// continuations tells when the program goes on after it was stopped for a while, as by Ctrl-Z and fg. The
// caller calls end. What is no file is no terminal, and nothing is told.
func continuations(to io.Writer) (told <-chan os.Signal, end func()) {
	if _, ok := to.(*os.File); !ok {
		return nil, func() {}
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGCONT)
	return c, func() { signal.Stop(c) }
}
