package opencl

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/plugins/gpu"
	"github.com/bnctl/bnctl/plugins/opencl/internal/cl"
)

// driver adapts a queue to package gpu.
type driver struct {
	*cl.Queue
	largest int64 // maximum size of a buffer in bytes
}

// kind adds the kind of package device to an error of OpenCL.
func kind(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, cl.AllocationFailed), errors.Is(err, cl.OutOfHostMemory),
		errors.Is(err, cl.InvalidBufferSize):
		return device.Errorf("", "", device.OutOfMemory, "%w", err)
	}
	return device.Errorf("", "", device.Lost, "%w", err)
}

func (d driver) Alloc(bytes int) (gpu.Buffer, error) {
	if d.largest > 0 && int64(bytes) > d.largest {
		return 0, device.Errorf("", "", device.OutOfMemory, "want a buffer of %d MiB, the largest has %d MiB",
			bytes>>20, d.largest>>20)
	}
	b, err := d.Queue.Alloc(bytes)
	return gpu.Buffer(b), kind(err)
}

func (d driver) Free(b gpu.Buffer) error { return kind(d.Queue.Free(uintptr(b))) }

func (d driver) Write(buffer gpu.Buffer, offset int, data []byte) error {
	return kind(d.Queue.Write(uintptr(buffer), offset, data))
}

func (d driver) Read(list ...gpu.Transfer) func() error {
	var err error
	for _, t := range list {
		if err == nil {
			err = kind(d.Queue.Read(t.Data, uintptr(t.From), t.At))
		}
	}
	if len(list) == 0 {
		err = d.Wait()
	}
	return func() error { return err }
}

func (d driver) Copy(dst, src gpu.Buffer, n int) error {
	return kind(d.Queue.Copy(uintptr(dst), uintptr(src), n))
}

func (d driver) Launch(kernel string, groups [2]int, args []any) error {
	k, err := d.Kernel(kernel)
	for i, a := range args {
		if err != nil {
			break
		}
		err = d.set(k, i, a)
	}
	if err == nil {
		err = d.Queue.Launch(k, groups, gpu.Threads)
	}
	if err != nil {
		return kind(fmt.Errorf("%s: %w", kernel, err))
	}
	return nil
}

// Record records nothing: OpenCL 1.2 has no recordings.
func (driver) Record([]gpu.Launch, int) (gpu.Recording, error) { return 0, nil }

func (driver) Replay(gpu.Recording) error { return errNoRecording }

func (driver) Forget(gpu.Recording) error { return errNoRecording }

var errNoRecording = errors.New("opencl: there are no recordings")

func (d driver) set(kernel uintptr, i int, a any) error {
	switch a := a.(type) {
	case gpu.Buffer:
		return d.Set(kernel, i, 8, uint64(a))
	case int32:
		return d.Set(kernel, i, 4, uint64(uint32(a)))
	case float64:
		return d.Set(kernel, i, 8, math.Float64bits(a))
	}
	panic(fmt.Sprintf("opencl: argument %d is a %T", i, a))
}

// Has returns false, because kernels for matrix units are written in PTX.
func (d driver) Has(string) bool { return false }

func (d driver) Wait() error { return kind(d.Queue.Wait()) }

func (d driver) Mark() (gpu.Mark, error) {
	e, err := d.Queue.Mark()
	return gpu.Mark(e), kind(err)
}

func (d driver) Times(marks []gpu.Mark) ([]time.Duration, error) {
	events := make([]uintptr, len(marks))
	for i, m := range marks {
		events[i] = uintptr(m)
	}
	times, err := d.Queue.Times(events)
	return times, kind(err)
}
