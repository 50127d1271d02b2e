// Package problem is how bnctl's packages refuse what a caller asks for: an
// error with parts. A program shows Text and Advice where its user looks, and
// Field tells which of the caller's own options is meant. The command line
// turns Field into a flag, JSON takes the parts as they are; nobody cuts a
// sentence apart.
package problem

import "fmt"

// Error is a mistake of the caller: an option, or several that contradict
// each other. What goes wrong without the caller's doing is no Error.
type Error struct {
	Field  string // the option as the library calls it: "devices"; "" if none in particular
	Value  string // what it was, as the user would write it; "" if that says nothing
	Text   string // what is wrong, with numbers
	Advice string // what to do; "" if Text leaves no doubt
	Err    error  // the cause; nil
}

// New returns an Error about an option.
func New(field, value, text, advice string) *Error {
	return &Error{Field: field, Value: value, Text: text, Advice: advice}
}

// Wrap returns an Error about an option whose text is that of err.
func Wrap(field string, err error) *Error { return &Error{Field: field, Text: err.Error(), Err: err} }

// Error writes the parts as one sentence: `devices 0xcpu: 0 devices; write 1xcpu`.
func (e *Error) Error() string { return e.Sentence(e.Field) }

// Sentence is Error with the option called name: a command line has "--devices".
func (e *Error) Sentence(name string) string {
	s := e.Text
	switch {
	case name != "" && e.Value != "":
		s = fmt.Sprintf("%s %s: %s", name, e.Value, s)
	case name != "":
		s = name + ": " + s
	}
	if e.Advice != "" {
		s += "; " + e.Advice
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Counted writes a number of things that have a regular plural: "1 replica",
// "2 replicas".
func Counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
