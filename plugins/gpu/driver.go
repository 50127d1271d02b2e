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
	// Read starts to copy from buffers to the host, after all earlier launches. Later launches may change
	// the buffers. The function that it returns waits until all data has arrived. It must be called, and
	// another goroutine may call it. At most two reads may be under way.
	Read(list ...Transfer) (wait func() error)
	// Copy copies the first n bytes of one buffer to the beginning of another.
	Copy(to, from Buffer, n int) error
	// Launch runs a kernel on groups[0] by groups[1] groups of Threads threads, after
	// all earlier launches. An argument is a Buffer, an int32 or a float64.
	Launch(kernel string, groups [2]int, args []any) error
	// Record returns a recording of launches that have run before the given number of times. It runs none
	// of them. If the driver cannot record, or if a recording is not worthwhile, the result is 0.
	Record(launches []Launch, ran int) (Recording, error)
	// Replay runs the launches of a recording in their order, after all earlier launches. If it returns an
	// error, it has run none of them.
	Replay(r Recording) error
	// Forget frees a recording.
	Forget(r Recording) error
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

// Launch is a launch of a kernel with the arguments of Driver.Launch.
type Launch struct {
	Kernel string
	Groups [2]int
	Args   []any
}

// Transfer is a copy from a buffer, from byte At on, to the host.
type Transfer struct {
	Data []byte
	From Buffer
	At   int
}

// Recording is a handle for launches that run with one call, for example an executable CUDA graph.
type Recording uintptr

// Buffer is memory of a device: a handle, or an address.
type Buffer uintptr

// Mark is a handle for a moment in the sequence of launches, for example a CUDA event.
type Mark uintptr

// Threads is the number of threads of a group (a thread block, or work-group).
const Threads = 128

// LocalMemory is the maximum number of bytes of local memory of a group: what OpenCL 1.2 guarantees.
const LocalMemory = 32 << 10

// maxUnits is the maximum number of groups along the second axis of a launch.
const maxUnits = 65535
