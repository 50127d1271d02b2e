// Package commandline checks a command line before the cli library reads it: flags and arguments in
// any order, values that cannot be read, and unknown names.
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

// misadvise does the same as Misuse, with advice.
func misadvise(advice, format string, args ...any) error {
	return problem.New("", "", fmt.Sprintf(format, args...), advice)
}
