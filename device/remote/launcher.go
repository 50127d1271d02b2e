package remote

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

// pmiKey is the variable with the descriptor of the connection to an MPICH launcher.
const pmiKey = "PMI_FD"

// launcherSocket returns the descriptor in pmiKey, or nil if it is not set. The launcher of
// MPICH gives each process an open connection by its number. The launcher treats the fabric
// plugin as the rank, so the plugin inherits the connection, under a different number; this
// process never reads from it. The os.File is created only once: a second one would close
// the descriptor twice.
var launcherSocket = sync.OnceValues(func() (*os.File, error) {
	text := os.Getenv(pmiKey)
	if text == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 3 {
		return nil, fmt.Errorf("the launcher's %s is %q, which is no descriptor", pmiKey, text)
	}
	return os.NewFile(uintptr(n), "launcher"), nil
})
