//go:build !unix

package waiting

import (
	"io"
	"os"
)

// continuations returns nil: this system does not stop and continue programs.
func continuations(io.Writer) (signals <-chan os.Signal, end func()) { return nil, func() {} }
