package remote

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

// pmiKey names the descriptor of the connection to an MPICH launcher.
const pmiKey = "PMI_FD"

// launcherSocket returns the descriptor of pmiKey; nil if there is none.
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
