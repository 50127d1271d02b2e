// Package commandline checks a command line before the cli library reads it. Flags and arguments may be in
// any order. Values that cannot be read, and unknown names, are errors with advice.
package commandline

import (
	"fmt"

	"github.com/bnctl/bnctl/problem"
)

// misuseError is a mistake on the command line.
type misuseError struct{ error }

// Misuse implements the method that problem.IsMisuse calls.
func (misuseError) Misuse() bool { return true }

// Misuse returns an error about a mistake on the command line.
func Misuse(format string, args ...any) error { return misuseError{fmt.Errorf(format, args...)} }

// misadvise is like Misuse, with advice.
func misadvise(advice, format string, args ...any) error {
	return problem.New("", "", fmt.Sprintf(format, args...), advice)
}
