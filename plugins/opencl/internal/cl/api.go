package cl

import (
	"unsafe"

	"github.com/bnctl/bnctl/plugins/internal/library"
)

// API is the open library.
type API struct {
	lib    *library.Library
	direct struct{ setArg, launch uintptr } // addresses of functions that are called for each launch

	platformIDs  func(n uint32, ids *uintptr, count *uint32) int32
	platformInfo func(platform uintptr, what uint32, size uintptr, value unsafe.Pointer, got *uintptr) int32
	deviceIDs    func(platform uintptr, kind uint64, n uint32, ids *uintptr, count *uint32) int32
	deviceInfo   func(device uintptr, what uint32, size uintptr, value unsafe.Pointer, got *uintptr) int32

	createContext  func(props uintptr, n uint32, devices *uintptr, notify, user uintptr, code *int32) uintptr
	releaseContext func(context uintptr) int32
	createQueue    func(context, device uintptr, props uint64, code *int32) uintptr
	releaseQueue   func(queue uintptr) int32
	finish         func(queue uintptr) int32

	createProgram func(context uintptr, n uint32, text **byte, length *uintptr, code *int32) uintptr
	fromBinary    func(context uintptr, n uint32, devices, sizes *uintptr, binaries **byte,
		status, code *int32) uintptr
	programInfo  func(program uintptr, what uint32, size uintptr, value unsafe.Pointer, got *uintptr) int32
	buildProgram func(program uintptr, n uint32, devices *uintptr, options *byte, notify, user uintptr) int32
	buildInfo    func(program, device uintptr, what uint32, size uintptr, value unsafe.Pointer,
		got *uintptr) int32
	releaseProgram func(program uintptr) int32
	createKernel   func(program uintptr, name *byte, code *int32) uintptr
	releaseKernel  func(kernel uintptr) int32

	createBuffer  func(context uintptr, flags uint64, size uintptr, host uintptr, code *int32) uintptr
	releaseBuffer func(buffer uintptr) int32
	readBuffer    func(queue, buffer uintptr, block uint32, at, size uintptr, to unsafe.Pointer, n uint32,
		wait, event uintptr) int32
	writeBuffer func(queue, buffer uintptr, block uint32, at, size uintptr, from unsafe.Pointer, n uint32,
		wait, event uintptr) int32
	marker       func(queue uintptr, n uint32, wait uintptr, event *uintptr) int32
	waitEvents   func(n uint32, events *uintptr) int32
	eventTime    func(event uintptr, what uint32, size uintptr, value *uint64, got uintptr) int32
	releaseEvent func(event uintptr) int32

	copyBuffer func(queue, from, to uintptr, fromAt, toAt, size uintptr, n uint32, wait, event uintptr) int32
}

// names are the places where the library may be.
var names = []string{"libOpenCL.so.1", "/usr/local/nvidia/lib64/libOpenCL.so.1"}

// Open opens the library, at the given paths or where it usually is.
func Open(paths ...string) (*API, error) {
	if len(paths) == 0 {
		paths = names
	}
	lib, err := library.Open(paths...)
	if err != nil {
		return nil, err
	}
	a := &API{lib: lib}
	for name, fn := range a.functions() {
		if err := lib.Bind(fn, name); err != nil {
			_ = lib.Close()
			return nil, err
		}
	}
	if a.direct.setArg, err = lib.Symbol("clSetKernelArg"); err == nil {
		a.direct.launch, err = lib.Symbol("clEnqueueNDRangeKernel")
	}
	if err != nil {
		_ = lib.Close()
		return nil, err
	}
	return a, nil
}

func (a *API) functions() map[string]any {
	return map[string]any{
		"clGetPlatformIDs": &a.platformIDs, "clGetPlatformInfo": &a.platformInfo,
		"clGetDeviceIDs": &a.deviceIDs, "clGetDeviceInfo": &a.deviceInfo,
		"clCreateContext": &a.createContext, "clReleaseContext": &a.releaseContext,
		"clCreateCommandQueue": &a.createQueue, "clReleaseCommandQueue": &a.releaseQueue, "clFinish": &a.finish,
		"clCreateProgramWithBinary": &a.fromBinary, "clGetProgramInfo": &a.programInfo,
		"clCreateProgramWithSource": &a.createProgram, "clBuildProgram": &a.buildProgram,
		"clGetProgramBuildInfo": &a.buildInfo, "clReleaseProgram": &a.releaseProgram,
		"clCreateKernel": &a.createKernel, "clReleaseKernel": &a.releaseKernel,
		"clCreateBuffer":     &a.createBuffer,
		"clReleaseMemObject": &a.releaseBuffer, "clEnqueueReadBuffer": &a.readBuffer,
		"clEnqueueWriteBuffer": &a.writeBuffer, "clEnqueueCopyBuffer": &a.copyBuffer,
		"clEnqueueMarkerWithWaitList": &a.marker, "clWaitForEvents": &a.waitEvents,
		"clGetEventProfilingInfo": &a.eventTime, "clReleaseEvent": &a.releaseEvent,
	}
}
