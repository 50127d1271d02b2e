package cu

import "unsafe"

// pinned is host memory that the GPU reads and writes directly. It has two halves: one is filled while
// the other is transferred.
type pinned struct {
	halves [2]unsafe.Pointer
	sent   [2]uintptr // for each half, an event after its last copy
	next   int
}

// half is the size in bytes of a half of the pinned memory.
const half = 4 << 20

func (p *pinned) take(c *CUDA) error {
	for i := range p.halves {
		if err := c.check("cuMemHostAlloc", c.allocHost(&p.halves[i], half, 0)); err != nil {
			return err
		}
		const withoutTimes = 2
		if err := c.check("cuEventCreate", c.newEvent(&p.sent[i], withoutTimes)); err != nil {
			return err
		}
	}
	return nil
}

// Alloc allocates memory and returns its address.
func (x *Context) Alloc(bytes int) (address uint64, err error) {
	err = x.do(func() error { return x.c.check("cuMemAlloc", x.c.alloc(&address, uint64(bytes))) })
	return address, err
}

// Free frees memory.
func (x *Context) Free(address uint64) error {
	return x.do(func() error { return x.c.check("cuMemFree", x.c.free(address)) })
}

// Write copies data to the device, after all earlier launches. When it returns, data has been copied to
// pinned memory, and the caller may change it.
func (x *Context) Write(to uint64, data []byte) error {
	return x.do(func() error {
		for len(data) > 0 {
			n, err := x.send(to, data)
			if err != nil {
				return err
			}
			to, data = to+uint64(n), data[n:]
		}
		return nil
	})
}

// send copies data to the device, at most as much as a half holds, and returns the number of bytes.
func (x *Context) send(to uint64, data []byte) (int, error) {
	p := &x.pinned
	i := p.next
	p.next = 1 - p.next
	if err := x.c.check("cuEventSynchronize", x.c.waitEvent(p.sent[i])); err != nil {
		return 0, err
	}
	n := copy(unsafe.Slice((*byte)(p.halves[i]), half), data)
	if err := x.c.check("cuMemcpyHtoDAsync", x.c.toDevice(to, p.halves[i], uint64(n), x.stream)); err != nil {
		return 0, err
	}
	return n, x.c.check("cuEventRecord", x.c.record(p.sent[i], x.stream))
}

// Read copies from the device to data, after all earlier launches.
func (x *Context) Read(data []byte, from uint64) error {
	return x.do(func() error {
		p := x.pinned.halves[0]
		for len(data) > 0 {
			n := min(len(data), half)
			err := x.c.check("cuMemcpyDtoHAsync", x.c.toHost(p, from, uint64(n), x.stream))
			if err == nil {
				err = x.c.check("cuStreamSynchronize", x.c.wait(x.stream))
			}
			if err != nil {
				return err
			}
			copy(data, unsafe.Slice((*byte)(p), n))
			from, data = from+uint64(n), data[n:]
		}
		return nil
	})
}

// Copy copies bytes within the device.
func (x *Context) Copy(to, from uint64, n int) error {
	return x.do(func() error {
		return x.c.check("cuMemcpyDtoDAsync", x.c.onDevice(to, from, uint64(n), x.stream))
	})
}

// Wait waits until all launches have finished.
func (x *Context) Wait() error {
	return x.do(func() error { return x.c.check("cuStreamSynchronize", x.c.wait(x.stream)) })
}
