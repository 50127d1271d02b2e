package cu

import (
	"fmt"
	"unsafe"
)

// Code is what a function of the driver says went wrong (CUresult).
type Code int32

// Codes that mean something to the device.
const (
	OutOfMemory    Code = 2
	invalidPTX     Code = 218
	unsupportedPTX Code = 222
)

// Error is what the driver says to a call, in its own words.
type Error struct {
	Call string
	Code Code
	Name string // "CUDA_ERROR_ILLEGAL_ADDRESS"
	Text string // "an illegal memory access was encountered"
}

// Error says all of it.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s (%s)", e.Call, e.Text, e.Name) }

// check makes an error of a code; 0 is none.
func (c *CUDA) check(call string, code int32) error {
	if code == 0 {
		return nil
	}
	e := &Error{Call: call, Code: Code(code), Name: fmt.Sprintf("CUDA error %d", code),
		Text: "an error without a text"}
	var name, text *byte
	if c.errorName(code, &name) == 0 && name != nil {
		e.Name = goString(name)
	}
	if c.errorText(code, &text) == 0 && text != nil {
		e.Text = goString(text)
	}
	return e
}

// goString copies a text of the library's, which ends with 0.
func goString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}
