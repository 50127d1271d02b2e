package fleet

import (
	"sync/atomic"

	"github.com/bnctl/bnctl/plugins/cpu"
)

// serveWord is the argument that makes a program start itself as the process of a built-in
// plugin: PROGRAM serve-device cpu.
const serveWord = "serve-device"

// serves is set when the program calls Serve.
var serves atomic.Bool

// Serve serves a built-in device if the process was started for that purpose, and reports
// whether it did; main then returns. args is os.Args. A program that opens fleets calls
// Serve first in main.
func Serve(args []string) bool {
	serves.Store(true)
	if len(args) != 3 || args[1] != serveWord || args[2] != "cpu" {
		return false
	}
	cpu.Main()
	return true
}
