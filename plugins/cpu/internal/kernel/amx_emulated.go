//go:build amd64 && linux && !purego && amxemulation

package kernel

import (
	"sync"

	"github.com/bnctl/bnctl/plugins/cpu/internal/amxemulation"
)

// matrixUnits makes this process emulate the instructions of AMX. It is for tests.
var matrixUnits = sync.OnceValue(func() bool {
	if err := amxemulation.Install(); err != nil {
		panic(err)
	}
	return true
})

// matrixBytes reports that products of bytes are emulated, too.
func matrixBytes() bool { return true }
