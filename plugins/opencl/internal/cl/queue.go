package cl

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/bnctl/bnctl/plugins/internal/library"
)

// Queue is a device with a context, a queue that executes commands in order, and a built program.
type Queue struct {
	a                       *API
	context, queue, program uintptr
	kernels                 map[string]uintptr
	word                    uint64     // an argument; the library may not be passed an address on the stack
	global, local           [2]uintptr // sizes of a launch, likewise
}

// Open creates a queue on a device and builds a program for it, or uses the result of an
// earlier build in the folder cache ("": no cache). If the program does not compile, the
// error is the build log.
func (a *API) Open(d Device, source, cache string) (*Queue, error) {
	q := &Queue{a: a, kernels: map[string]uintptr{}}
	var code int32
	q.context = a.createContext(0, 1, &d.id, 0, 0, &code)
	err := check("clCreateContext", code)
	if err == nil {
		q.queue = a.createQueue(q.context, d.id, withTimes, &code)
		err = check("clCreateCommandQueue", code)
	}
	if err == nil {
		b := binary{queue: q, device: d, file: cacheFile(cache, d, source)}
		if !b.load() {
			if err = q.build(d, source); err == nil {
				b.save()
			}
		}
	}
	if err != nil {
		_ = q.Close()
		return nil, err
	}
	return q, nil
}

// withTimes is the property of a queue that makes its events record times.
const withTimes = 1 << 1

func (q *Queue) build(d Device, source string) error {
	b := append([]byte(source), 0)
	first := &b[0]
	var code int32
	q.program = q.a.createProgram(q.context, 1, &first, nil, &code)
	runtime.KeepAlive(b)
	if err := check("clCreateProgramWithSource", code); err != nil {
		return err
	}
	if err := q.compile(d); err != nil {
		return fmt.Errorf("%w\n%s", err, q.log(d))
	}
	return nil
}

// compile builds the program, which was created from source or from a binary.
func (q *Queue) compile(d Device) error {
	options := append([]byte("-cl-std=CL1.2"), 0)
	return check("clBuildProgram", q.a.buildProgram(q.program, 1, &d.id, &options[0], 0, 0))
}

// log returns the beginning of the compiler's log.
func (q *Queue) log(d Device) string {
	b := make([]byte, 1<<16)
	var got uintptr
	if q.a.buildInfo(q.program, d.id, buildLog, uintptr(len(b)), unsafe.Pointer(&b[0]), &got) != 0 {
		return "the compiler's log cannot be read"
	}
	return strings.TrimRight(string(b[:min(int(got), len(b))]), "\x00\n")
}

// Close frees everything. It ignores errors of OpenCL because the caller cannot act on
// them.
func (q *Queue) Close() error {
	for _, k := range q.kernels {
		q.a.releaseKernel(k)
	}
	if q.program != 0 {
		q.a.releaseProgram(q.program)
	}
	if q.queue != 0 {
		q.a.releaseQueue(q.queue)
	}
	if q.context != 0 {
		q.a.releaseContext(q.context)
	}
	return nil
}

// Alloc creates a buffer.
func (q *Queue) Alloc(bytes int) (uintptr, error) {
	var code int32
	b := q.a.createBuffer(q.context, 1, uintptr(bytes), 0, &code)
	return b, check("clCreateBuffer", code)
}

// Free releases a buffer.
func (q *Queue) Free(b uintptr) error { return check("clReleaseMemObject", q.a.releaseBuffer(b)) }

// Write copies data to a buffer, from an offset on.
func (q *Queue) Write(buffer uintptr, offset int, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	return check("clEnqueueWriteBuffer", q.a.writeBuffer(q.queue, buffer, 1, uintptr(offset), uintptr(len(data)),
		unsafe.Pointer(&data[0]), 0, 0, 0))
}

// Read copies from a buffer, from an offset on, to data.
func (q *Queue) Read(data []byte, buffer uintptr, offset int) error {
	if len(data) == 0 {
		return nil
	}
	return check("clEnqueueReadBuffer", q.a.readBuffer(q.queue, buffer, 1, uintptr(offset), uintptr(len(data)),
		unsafe.Pointer(&data[0]), 0, 0, 0))
}

// Copy copies the first n bytes of one buffer to another.
func (q *Queue) Copy(dst, src uintptr, n int) error {
	return check("clEnqueueCopyBuffer", q.a.copyBuffer(q.queue, src, dst, 0, 0, uintptr(n), 0, 0, 0))
}

// Wait waits for all that was enqueued.
func (q *Queue) Wait() error { return check("clFinish", q.a.finish(q.queue)) }

// Kernel returns a kernel of the program.
func (q *Queue) Kernel(name string) (uintptr, error) {
	if k, ok := q.kernels[name]; ok {
		return k, nil
	}
	var code int32
	k := q.a.createKernel(q.program, &append([]byte(name), 0)[0], &code)
	if err := check("clCreateKernel "+name, code); err != nil {
		return 0, err
	}
	q.kernels[name] = k
	return k, nil
}

// Set sets an argument of a kernel to the first size bytes of bits. A training step has thousands of
// launches, so Set and Launch call the library directly.
func (q *Queue) Set(kernel uintptr, i, size int, bits uint64) error {
	q.word = bits
	code := library.Call(q.a.direct.setArg, kernel, uintptr(i), uintptr(size),
		uintptr(unsafe.Pointer(&q.word)))
	return check("clSetKernelArg", int32(code))
}

// Launch enqueues a kernel over groups[0] by groups[1] groups of the given number of
// threads.
func (q *Queue) Launch(kernel uintptr, groups [2]int, threads int) error {
	q.global = [2]uintptr{uintptr(groups[0] * threads), uintptr(groups[1])}
	q.local = [2]uintptr{uintptr(threads), 1}
	code := library.Call(q.a.direct.launch, q.queue, kernel, 2, 0, uintptr(unsafe.Pointer(&q.global[0])),
		uintptr(unsafe.Pointer(&q.local[0])), 0, 0, 0)
	return check("clEnqueueNDRangeKernel", int32(code))
}
