package cu

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/bnctl/bnctl/problem"
)

// Context is a GPU with loaded modules and one stream.
type Context struct {
	c       *CUDA
	context uintptr
	modules []module // a kernel is taken from the first module that has it
	stream  uintptr
	kernels map[string]uintptr
	staging staging
	words   [MostArgs]uint64
	args    [MostArgs]unsafe.Pointer
}

// module is a module of PTX that the driver has loaded.
type module struct {
	text   string
	handle uintptr
}

// A Module is PTX for devices with a compute capability, times ten, of at least From and less than Below. A
// bound that is 0 does not apply.
type Module struct {
	PTX         string
	From, Below int
}

func (m Module) suits(capability int) bool {
	return capability >= m.From && (m.Below == 0 || capability < m.Below)
}

// MostArgs is the maximum number of arguments of a kernel.
const MostArgs = 32

// Open creates a context on the GPU with this UUID, and loads the modules for it, which the driver compiles.
// Kernels are taken from the first module that has them. A module for some devices is left out if the driver
// does not compile it. If it does not compile the one for all, the error has the compiler's message.
func (c *CUDA) Open(uuid string, modules ...Module) (*Context, error) {
	device, err := c.find(uuid)
	if err == nil {
		err = c.suits(device)
	}
	if err != nil {
		return nil, err
	}
	x := &Context{c: c, kernels: map[string]uintptr{}}
	const sleep = 4 // a waiting thread sleeps, and leaves its core to CPU devices
	if err := c.check("cuCtxCreate", c.createContext(&x.context, sleep, device)); err != nil {
		return nil, c.unavailable(device, err)
	}
	err = x.do(func() error {
		const besideOthers = 1
		if err := c.check("cuStreamCreate", c.newStream(&x.stream, besideOthers)); err != nil {
			return err
		}
		if err := x.staging.open(c); err != nil {
			return err
		}
		for _, m := range modules {
			if !m.suits(c.capability(device)) {
				continue
			}
			if err := x.load(m.PTX); err != nil && m.From == 0 {
				return err
			}
		}
		return nil
	})
	if err != nil {
		_ = x.Close()
		return nil, err
	}
	return x, nil
}

// do makes the context current on a thread and calls f there.
func (x *Context) do(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := x.c.check("cuCtxSetCurrent", x.c.setCurrent(x.context)); err != nil {
		return err
	}
	return f()
}

// load compiles PTX and adds the module to the context.
func (x *Context) load(ptx string) error {
	const errorLog, errorLogSize = 5, 6 // CUjit_option
	image, log := append([]byte(ptx), 0), make([]byte, 1<<14)
	options := [2]int32{errorLog, errorLogSize}
	values := [2]uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	m := module{text: ptx}
	err := x.c.check("cuModuleLoadDataEx", x.c.loadModule(&m.handle, &image[0], 2, &options[0], &values[0]))
	if err == nil {
		x.modules = append(x.modules, m)
	}
	runtime.KeepAlive(log)
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	text, _, _ := bytes.Cut(log, []byte{0})
	if e.Code == unsupportedPTX || e.Code == invalidPTX {
		return problem.Advise("install a newer one", "the driver does not compile the kernels: %w\n%s", err, text)
	}
	return fmt.Errorf("%w\n%s", err, text)
}

// Close destroys the context and everything that was created in it.
func (x *Context) Close() error {
	if x.context == 0 {
		return nil
	}
	context := x.context
	x.context = 0
	return x.c.check("cuCtxDestroy", x.c.destroyContext(context))
}

// Memory returns the number of free bytes on the GPU.
func (x *Context) Memory() (free int64, err error) {
	var f, total uint64
	err = x.do(func() error { return x.c.check("cuMemGetInfo", x.c.memory(&f, &total)) })
	return int64(f), err
}
