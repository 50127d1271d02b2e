package cu

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
