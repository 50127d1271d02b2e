//go:build unix

package serve

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/bnctl/bnctl/device/internal/wire"
)

// outputToError makes file descriptor 1 a copy of 2. After an error both stay unchanged. It
// does nothing if the host reads standard output, as in a test of the plugin.
func outputToError() {
	if os.Getenv(wire.OutputKey) == "" {
		_ = unix.Dup2(2, 1)
	}
}
