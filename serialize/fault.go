package serialize

import (
	"runtime/debug"

	"github.com/bnctl/bnctl/problem"
)

// errShrunk is the error of a file that another program modifies in place.
var errShrunk = problem.Advise("try again", "the file was cut short while it was read")

// attended calls f, which reads a mapped file. It returns an error if the file was truncated
// meanwhile: reading after its new end would otherwise end the process.
func attended(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // some memory could not be read
			err = errShrunk
		default:
			panic(fault)
		}
	}()
	return f()
}
