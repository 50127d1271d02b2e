package remote

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

// pmiKey names the descriptor of the connection to an MPICH launcher.
const pmiKey = "PMI_FD"

// launcherSocket returns the descriptor of pmiKey; nil if there is none. The launcher of MPICH gives
// each process an open connection by its number. The fabric plugin is the rank in the launcher's
// eyes, so it inherits the connection, at a number of its own; this process never reads from it.
// The file is made once: two of them would close the descriptor twice.
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
