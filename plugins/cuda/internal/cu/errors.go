package cu

import (
	"fmt"
	"unsafe"
)

// Code is the error code of a driver function (CUresult).
type Code int32

// The device treats these codes specially.
const (
	OutOfMemory    Code = 2
	invalidPTX     Code = 218
	unsupportedPTX Code = 222
)

// Error is an error of the driver, with its name and text.
type Error struct {
	Call string
	Code Code
	Name string // "CUDA_ERROR_ILLEGAL_ADDRESS"
	Text string // "an illegal memory access was encountered"
}

// Error returns the call, the text and the name.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s (%s)", e.Call, e.Text, e.Name) }

// check converts a code to an error; 0 is nil.
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

// goString copies a text of the library, which ends with a zero byte.
func goString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}
