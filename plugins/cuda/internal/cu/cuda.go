package cu

import (
	"fmt"
	"unsafe"

	"github.com/bnctl/bnctl/plugins/internal/library"
)

// CUDA is the open driver library. Handles have the types of cuda.h; addresses on the
// device are uint64.
type CUDA struct {
	lib *library.Library

	init      func(flags uint32) int32
	version   func(out *int32) int32
	errorName func(code int32, out **byte) int32
	errorText func(code int32, out **byte) int32

	count     func(out *int32) int32
	device    func(out *int32, index int32) int32
	uuid      func(out *[16]byte, device int32) int32
	attribute func(out *int32, what, device int32) int32

	createContext  func(out *uintptr, flags uint32, device int32) int32
	destroyContext func(context uintptr) int32
	setCurrent     func(context uintptr) int32

	loadModule func(out *uintptr, image *byte, n uint32, options *int32, values *uintptr) int32
	function   func(out *uintptr, module uintptr, name *byte) int32
	figure     func(out *int32, what int32, function uintptr) int32

	memory    func(free, total *uint64) int32
	alloc     func(out *uint64, size uint64) int32
	free      func(address uint64) int32
	allocHost func(out *unsafe.Pointer, size uint64, flags uint32) int32
	freeHost  func(p unsafe.Pointer) int32
	toDevice  func(to uint64, from unsafe.Pointer, size uint64, stream uintptr) int32
	toHost    func(to unsafe.Pointer, from, size uint64, stream uintptr) int32
	onDevice  func(to, from, size uint64, stream uintptr) int32
	newStream func(out *uintptr, flags uint32) int32
	wait      func(stream uintptr) int32
	newEvent  func(out *uintptr, flags uint32) int32
	endEvent  func(event uintptr) int32
	record    func(event, stream uintptr) int32
	waitEvent func(event uintptr) int32
	follow    func(stream, event uintptr, flags uint32) int32
	elapsed   func(out *float32, from, to uintptr) int32

	graphs *graphs                              // nil: the driver has no graphs
	direct struct{ setCurrent, launch uintptr } // addresses of functions that are called for each launch
}

// cudaNames are the places where the library may be: the loader's path, WSL, containers.
var cudaNames = []string{"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1",
	"/usr/local/nvidia/lib64/libcuda.so.1"}

// OpenCUDA opens the library at the given paths, or in the usual places. It creates no context.
func OpenCUDA(paths ...string) (*CUDA, error) {
	if len(paths) == 0 {
		paths = cudaNames
	}
	lib, err := library.Open(paths...)
	if err != nil {
		return nil, err
	}
	c := &CUDA{lib: lib}
	for name, fn := range c.functions() {
		if err := lib.Bind(fn, name); err != nil {
			return nil, fmt.Errorf("%w; the driver is too old for these kernels", err)
		}
	}
	c.graphs = c.openGraphs()
	if c.direct.setCurrent, err = lib.Symbol("cuCtxSetCurrent"); err != nil {
		return nil, err
	}
	if c.direct.launch, err = lib.Symbol("cuLaunchKernel"); err != nil {
		return nil, err
	}
	return c, c.check("cuInit", c.init(0))
}

func (c *CUDA) functions() map[string]any {
	return map[string]any{
		"cuInit": &c.init, "cuDriverGetVersion": &c.version, "cuGetErrorName": &c.errorName,
		"cuGetErrorString": &c.errorText, "cuDeviceGetCount": &c.count, "cuDeviceGet": &c.device,
		"cuDeviceGetUuid": &c.uuid, "cuDeviceGetAttribute": &c.attribute,
		"cuCtxCreate_v2": &c.createContext, "cuCtxDestroy_v2": &c.destroyContext, "cuCtxSetCurrent": &c.setCurrent,
		"cuModuleLoadDataEx": &c.loadModule, "cuModuleGetFunction": &c.function,
		"cuFuncGetAttribute": &c.figure,
		"cuMemGetInfo_v2":    &c.memory, "cuMemAlloc_v2": &c.alloc, "cuMemFree_v2": &c.free,
		"cuMemHostAlloc": &c.allocHost, "cuMemFreeHost": &c.freeHost,
		"cuMemcpyHtoDAsync_v2": &c.toDevice, "cuMemcpyDtoHAsync_v2": &c.toHost,
		"cuMemcpyDtoDAsync_v2": &c.onDevice, "cuStreamCreate": &c.newStream, "cuStreamSynchronize": &c.wait,
		"cuEventCreate": &c.newEvent, "cuEventDestroy_v2": &c.endEvent, "cuEventRecord": &c.record,
		"cuEventSynchronize": &c.waitEvent, "cuEventElapsedTime": &c.elapsed,
		"cuStreamWaitEvent": &c.follow,
	}
}
