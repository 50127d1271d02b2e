package fleet

import (
	"sync/atomic"

	"github.com/bnctl/bnctl/plugins/cpu"
)

// serveWord is the argument with which a program starts itself as the process
// of a built-in plugin: PROGRAM serve-device cpu.
const serveWord = "serve-device"

// serves says that the program calls Serve.
var serves atomic.Bool

// Serve serves a built-in device if that is what the process was started for,
// args being os.Args, and reports whether it did: then main returns. A program
// that opens fleets calls it first thing in main.
func Serve(args []string) bool {
	serves.Store(true)
	if len(args) != 3 || args[1] != serveWord || args[2] != "cpu" {
		return false
	}
	cpu.Main()
	return true
}
