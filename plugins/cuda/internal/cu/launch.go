package cu

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/bnctl/bnctl/plugins/internal/library"
)

// kernel returns the kernel with this name.
func (x *Context) kernel(name string) (uintptr, error) {
	if k, ok := x.kernels[name]; ok {
		return k, nil
	}
	var k uintptr
	of := x.modules[len(x.modules)-1]
	if i := x.moduleOf(name); i >= 0 {
		of = x.modules[i]
	}
	err := x.c.check("cuModuleGetFunction", x.c.function(&k, of.handle, &append([]byte(name), 0)[0]))
	if err != nil {
		return 0, err
	}
	x.kernels[name] = k
	return k, nil
}

// moduleOf returns the number of the first module that has a kernel, or -1.
func (x *Context) moduleOf(name string) int {
	has := func(m module) bool { return strings.Contains(m.text, ".entry "+name+"(") }
	return slices.IndexFunc(x.modules, has)
}

// Has reports whether a module that the driver has loaded has a kernel with this name.
func (x *Context) Has(name string) bool { return x.moduleOf(name) >= 0 }

// Launch launches a kernel. A training step has thousands of launches, so it calls the library directly.
func (x *Context) Launch(l *KernelLaunch) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	current := library.Call(x.c.direct.setCurrent, x.context)
	if err := x.c.check("cuCtxSetCurrent", int32(current)); err != nil {
		return err
	}
	k, err := x.kernel(l.Name)
	if err != nil {
		return err
	}
	code := library.Call(x.c.direct.launch, k, uintptr(l.Groups[0]), uintptr(l.Groups[1]), 1,
		uintptr(l.Threads), 1, 1, 0, x.stream, uintptr(unsafe.Pointer(x.pointers(l.Args))), 0)
	return x.c.check("cuLaunchKernel", int32(code))
}

// pointers returns the address of a list of pointers to arguments. It is valid until the next call.
func (x *Context) pointers(args []uint64) *unsafe.Pointer {
	if len(args) > MostArgs {
		panic(fmt.Sprintf("cu: %d arguments", len(args)))
	}
	copy(x.words[:], args)
	for i := range args {
		x.args[i] = unsafe.Pointer(&x.words[i])
	}
	return &x.args[0]
}

// Figures describes a kernel as compiled by the driver.
type Figures struct {
	Registers int32 // per thread
	Shared    int32 // bytes per block
	Local     int32 // bytes per thread: its arrays and spilled registers
}

// Figures returns the figures of a kernel.
func (x *Context) Figures(name string) (f Figures, err error) {
	err = x.do(func() error {
		k, err := x.kernel(name)
		for what, to := range map[int32]*int32{1: &f.Shared, 3: &f.Local, 4: &f.Registers} {
			if err == nil {
				err = x.c.check("cuFuncGetAttribute", x.c.figure(to, what, k))
			}
		}
		return err
	})
	return f, err
}

// Mark returns an event that follows all earlier launches.
func (x *Context) Mark() (event uintptr, err error) {
	err = x.do(func() error {
		if err := x.c.check("cuEventCreate", x.c.newEvent(&event, 0)); err != nil {
			return err
		}
		return x.c.check("cuEventRecord", x.c.record(event, x.stream))
	})
	return event, err
}

// Times waits for events and returns the times between them: one time less than there are events. It
// destroys the events.
func (x *Context) Times(events []uintptr) (times []time.Duration, err error) {
	err = x.do(func() error {
		for i, e := range events {
			if err := x.c.check("cuEventSynchronize", x.c.waitEvent(e)); err != nil {
				return err
			}
			if i == 0 {
				continue
			}
			var ms float32
			if err := x.c.check("cuEventElapsedTime", x.c.elapsed(&ms, events[i-1], e)); err != nil {
				return err
			}
			times = append(times, time.Duration(float64(ms)*float64(time.Millisecond)))
		}
		return nil
	})
	for _, e := range events {
		x.c.endEvent(e)
	}
	return times, err
}
