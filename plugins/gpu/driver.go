package gpu

import "time"

// Driver is what a kind of hardware does for the device: one opened device with
// the kernels built. One goroutine uses it at a time. Errors are of the kinds of
// package device; a device that is lost says so.
type Driver interface {
	// Alloc returns a buffer of that many bytes, at least 1, whose contents mean nothing.
	Alloc(bytes int) (Buffer, error)
	// Free ends a buffer; no launch may use it any more.
	Free(b Buffer) error
	// Write copies data to a place in a buffer. data is the caller's again when it returns.
	Write(to Buffer, at int, data []byte) error
	// Read copies from a place in a buffer, after all that was launched before.
	Read(data []byte, from Buffer, at int) error
	// Copy copies n bytes from the beginning of one buffer to that of another.
	Copy(to, from Buffer, n int) error
	// Launch runs a kernel on groups[0] by groups[1] groups of Threads threads, behind
	// what was launched before. An argument is a Buffer, an int32 or a float64.
	Launch(kernel string, groups [2]int, args []any) error
	// Wait waits for all that was launched.
	Wait() error
	// Mark returns a mark behind all that was launched.
	Mark() (Mark, error)
	// Times waits for marks and returns the times between them, one fewer than there
	// are marks. They end.
	Times(marks []Mark) ([]time.Duration, error)
	// Close frees the device.
	Close() error
}

// Buffer is memory of a device: a handle, or an address.
type Buffer uintptr

// Mark is a place in the course of a device: a handle.
type Mark uintptr

// Threads is how many threads a group has.
const Threads = 128

// mostUnits is how many rows of groups a grid has at most.
const mostUnits = 65535
