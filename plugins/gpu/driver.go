package gpu

import "time"

// Driver is the interface to one opened device of the hardware. It has built the kernels. Only one
// goroutine uses it at a time. Errors have the kinds of package device, for example device.Lost if the
// hardware is lost.
type Driver interface {
	// Alloc returns a buffer of the given number of bytes, at least 1. Its contents are undefined.
	Alloc(bytes int) (Buffer, error)
	// Free frees a buffer, which no later launch may use.
	Free(b Buffer) error
	// Write copies data to a buffer, from byte at on. The caller may change data when it
	// returns.
	Write(to Buffer, at int, data []byte) error
	// Read copies from a buffer, from byte at on, after all earlier launches.
	Read(data []byte, from Buffer, at int) error
	// Copy copies the first n bytes of one buffer to the beginning of another.
	Copy(to, from Buffer, n int) error
	// Launch runs a kernel on groups[0] by groups[1] groups of Threads threads, after
	// all earlier launches. An argument is a Buffer, an int32 or a float64.
	Launch(kernel string, groups [2]int, args []any) error
	// Has reports whether there is a kernel with this name. Kernels that need matrix units are optional.
	Has(kernel string) bool
	// Wait waits for all launches.
	Wait() error
	// Mark returns a mark for the moment after all earlier launches.
	Mark() (Mark, error)
	// Times waits for marks and returns the times between them, one fewer than there
	// are marks. It frees the marks.
	Times(marks []Mark) ([]time.Duration, error)
	// Close frees the device.
	Close() error
}

// Buffer is memory of a device: a handle, or an address.
type Buffer uintptr

// Mark is a handle for a moment in the sequence of launches, for example a CUDA event.
type Mark uintptr

// Threads is the number of threads of a group (a thread block, or work-group).
const Threads = 128

// maxUnits is the maximum number of groups along the second axis of a launch.
const maxUnits = 65535
