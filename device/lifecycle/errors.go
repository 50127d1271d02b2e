package lifecycle

import (
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/problem"
)

// Errorf returns an error with a kind. The device adds its name and the call to it. The
// format may wrap a cause with %w.
func Errorf(k device.Kind, format string, args ...any) error {
	return &kindError{k, fmt.Errorf(format, args...)}
}

// kindError is a cause with a kind. Its text does not have the kind, because device.Error adds it.
type kindError struct {
	kind device.Kind
	err  error
}

func (e *kindError) Error() string { return e.err.Error() }

// Unwrap makes both the kind and the cause visible to errors.Is and errors.As.
func (e *kindError) Unwrap() []error { return []error{e.kind, e.err} }

// CheckMemory returns an error of kind OutOfMemory if want is more than have, in bytes. If
// have is 0, the memory is unknown and counts as enough. word describes have in the error:
// "free" or "in all".
func CheckMemory(want float64, have int64, word string) error {
	const mib = 1 << 20
	if have <= 0 || want <= float64(have) {
		return nil
	}
	return Errorf(device.OutOfMemory, "%w", problem.Advise(
		"use a smaller batch, or more devices with {stages} auto",
		"want %.0f MiB, have %d MiB %s", want/mib, have/mib, word))
}
