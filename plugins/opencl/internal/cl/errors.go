package cl

import "fmt"

// Code is the error code of an OpenCL function.
type Code int32

// The device handles these codes specially.
const (
	DeviceNotFound     Code = -1
	AllocationFailed   Code = -4
	OutOfResources     Code = -5
	OutOfHostMemory    Code = -6
	BuildFailure       Code = -11
	InvalidBufferSize  Code = -61
	PlatformsNotFound  Code = -1001
	deviceNotAvailable Code = -2
)

var texts = map[Code]string{
	DeviceNotFound: "no device", deviceNotAvailable: "the device is not available",
	AllocationFailed: "the buffer cannot be allocated", OutOfResources: "out of resources",
	OutOfHostMemory: "out of host memory", BuildFailure: "the kernels do not compile",
	InvalidBufferSize: "the buffer is too large", PlatformsNotFound: "no platform is installed",
}

// Error returns the code, with its name if it is known.
func (c Code) Error() string {
	if text := texts[c]; text != "" {
		return fmt.Sprintf("%s (%d)", text, int32(c))
	}
	return fmt.Sprintf("OpenCL error %d", int32(c))
}

// check converts the code of a call to an error; 0 is nil.
func check(call string, code int32) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", call, Code(code))
}
