//go:build amxemulation && linux && amd64 && cgo

// Package amxemulation executes the matrix instructions of AMX (palette 1,
// bfloat16) on processors without them, so that kernels made of them can be
// tested there: encodings, addresses, shapes of tiles, and bits. It is for
// tests only, some thousand times slower than the instructions, and there only
// with the build tag amxemulation.
//
// An instruction that the processor does not know raises SIGILL; the handler
// reads the instruction at that address, executes it on tiles that belong to the
// thread, and continues the program after it. Where a processor raises #UD or
// #GP (a tile that is not configured, shapes that do not fit together, one tile
// as two operands, a reserved bit), the handler prints a line to stderr and passes
// the signal to the handler that was installed before: the Go runtime ends the
// program with a trace.
package amxemulation

// int amx_emulation_install(void);
import "C"
import "fmt"

// Install makes this process execute the instructions. Calls after the first
// do nothing.
func Install() error {
	if errno := C.amx_emulation_install(); errno != 0 {
		return fmt.Errorf("amxemulation: the handler of SIGILL cannot be installed: error %d", errno)
	}
	return nil
}
