package cl

import (
	"bytes"
	"errors"
	"unsafe"
)

// Device describes a device, without a context on it.
type Device struct {
	Platform, Index int // number of the platform; number of the device on that platform
	PlatformName    string
	Name            string
	Version         string // "OpenCL 3.0 PoCL ..."
	Driver          string
	Memory          int64 // bytes
	Largest         int64 // maximum size of a buffer in bytes
	Threads         int   // maximum number of threads of a group
	Local           int64 // bytes of local memory of a group
	Single, Double  uint64
	Compiler        bool
	id              uintptr
}

// These are bits of Single and Double, which describe floating-point features.
const (
	Denorm         = 1 << 0
	InfNaN         = 1 << 1
	RoundToNearest = 1 << 2
	FMA            = 1 << 5
)

// These are the numbers of queries of devices and platforms.
const (
	platformName    = 0x0902
	maxGroup        = 0x1004
	maxAllocation   = 0x1010
	singleConfig    = 0x101B
	globalMemory    = 0x101F
	localMemory     = 0x1023
	compiler        = 0x1028
	deviceName      = 0x102B
	driverVersion   = 0x102D
	deviceVersion   = 0x102F
	doubleConfig    = 0x1032
	deviceTypeAll   = 0xFFFFFFFF
	mostOfAnything  = 64
	buildLog        = 0x1183
	nothingIsLonger = 4096
)

// Devices lists the devices of all platforms.
func (a *API) Devices() ([]Device, error) {
	var platforms [mostOfAnything]uintptr
	var count uint32
	err := check("clGetPlatformIDs", a.platformIDs(mostOfAnything, &platforms[0], &count))
	if errors.Is(err, PlatformsNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Device
	for p, platform := range platforms[:min(count, mostOfAnything)] {
		var ids [mostOfAnything]uintptr
		var n uint32
		if a.deviceIDs(platform, deviceTypeAll, mostOfAnything, &ids[0], &n) != 0 {
			continue // a platform without a device
		}
		name := text(func(size uintptr, value unsafe.Pointer, got *uintptr) int32 {
			return a.platformInfo(platform, platformName, size, value, got)
		})
		for i, id := range ids[:min(n, mostOfAnything)] {
			all = append(all, a.describe(Device{Platform: p, Index: i, PlatformName: name, id: id}))
		}
	}
	return all, nil
}

func (a *API) describe(d Device) Device {
	of := func(what uint32) string {
		return text(func(size uintptr, value unsafe.Pointer, got *uintptr) int32 {
			return a.deviceInfo(d.id, what, size, value, got)
		})
	}
	d.Name, d.Version, d.Driver = of(deviceName), of(deviceVersion), of(driverVersion)
	number := func(what uint32, size uintptr) (v uint64) {
		a.deviceInfo(d.id, what, size, unsafe.Pointer(&v), nil)
		return v
	}
	d.Memory, d.Largest = int64(number(globalMemory, 8)), int64(number(maxAllocation, 8))
	d.Threads, d.Compiler = int(number(maxGroup, 8)), number(compiler, 4) != 0
	d.Local = int64(number(localMemory, 8))
	d.Single, d.Double = number(singleConfig, 8), number(doubleConfig, 8)
	return d
}

// text calls a function that fills memory with a text that ends with 0.
func text(fill func(size uintptr, value unsafe.Pointer, got *uintptr) int32) string {
	b := make([]byte, nothingIsLonger)
	if fill(uintptr(len(b)), unsafe.Pointer(&b[0]), nil) != 0 {
		return ""
	}
	s, _, _ := bytes.Cut(b, []byte{0})
	return string(bytes.TrimSpace(s))
}
