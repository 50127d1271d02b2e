//go:build !purego && !amxemulation

package kernel

import (
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// matrixUnits reports whether this process may use AMX: the processor has tiles
// and products of bfloat16, the system saves their state, and it has given the
// permission that a process must request once.
var matrixUnits = sync.OnceValue(func() bool {
	// Constants of arch_prctl and of the state components in XCR0 (Linux, arch/x86/xstate.rst).
	const (
		getSupported      = 0x1021
		requestPermission = 0x1023
		tileConfig        = 17
		tileData          = 18
		both              = 1<<tileConfig | 1<<tileData
	)
	if !cpu.X86.HasAMXTile || !cpu.X86.HasAMXBF16 {
		return false
	}
	var supported uint64
	at := uintptr(unsafe.Pointer(&supported))
	_, _, errno := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, getSupported, at, 0)
	if errno != 0 || supported&both != both {
		return false
	}
	_, _, errno = syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, requestPermission, tileData, 0)
	return errno == 0
})

// matrixBytes reports whether the matrix units multiply bytes, too.
func matrixBytes() bool { return cpu.X86.HasAMXInt8 }
