package objects

import (
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// Fault is a broken annotation.
type Fault struct {
	File   string
	Line   int // line in the file; 0: the fault concerns the whole file
	Text   string
	Advice string
}

// Error returns the file, the line, the fault and the advice.
func (f Fault) Error() string {
	text := f.position() + ": " + f.Text
	if f.Advice != "" {
		text += "; " + f.Advice
	}
	return text
}

func (f Fault) position() string {
	if f.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}

// Faults is the error for a set with broken annotations. All has at least one fault.
type Faults struct{ All []Fault }

// mostFaults is the maximum number of faults that an error prints.
const mostFaults = 20

func (f *Faults) Error() string {
	if len(f.All) == 1 {
		return f.All[0].Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d annotations are broken:", len(f.All))
	for _, fault := range f.All[:min(len(f.All), mostFaults)] {
		fmt.Fprintf(&b, "\n   %v", fault)
	}
	if n := len(f.All) - mostFaults; n > 0 {
		fmt.Fprintf(&b, "\n   and %d more", n)
	}
	return b.String()
}

// Unwrap returns the first fault as a *problem.Error, so that programs get its advice.
func (f *Faults) Unwrap() error {
	first := f.All[0]
	return problem.Failure("", first.position()+": "+first.Text, first.Advice)
}

// faults collects broken annotations. Reading continues after a fault, so that a user can
// correct all of them at once.
type faults struct{ all []Fault }

// add adds a fault in a line of a file, with advice on how to correct it.
func (f *faults) add(file string, line int, advice, format string, args ...any) {
	f.all = append(f.all, Fault{file, line, fmt.Sprintf(format, args...), advice})
}

// err returns the collected faults as an error, or nil if there are none.
func (f *faults) err() error {
	if len(f.all) == 0 {
		return nil
	}
	return &Faults{f.all}
}
