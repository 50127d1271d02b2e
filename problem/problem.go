// Package problem has the error that bnctl's packages return for an invalid option. It has parts:
// Field names the option, Text describes the fault, and Advice the remedy. The command line turns
// Field into a flag; JSON has the parts as fields.
//
// Text and Advice write the name of another option, or of another command of bnctl, in braces, as
// in "use {bn} sync" or "make a template of it with {strip}". Error writes the bare name;
// WithOptionNames writes the name that the program's user knows.
package problem

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ErrLocked is wrapped by errors about a file that another program, or another run of this
// one, has locked for writing: errors.Is finds it.
var ErrLocked = errors.New("another program writes it")

// Error is a fault that the caller can correct: an option, or several that contradict each other,
// or, with Failed, the data, a file or a run.
type Error struct {
	Field  string   // the option's name in the library: "devices"; "" if the problem is not about one option
	Value  string   // the value as the user would write it; "" if the value does not help
	Text   string   // the fault, with numbers
	Advice string   // what to do; "" if Text leaves no doubt
	Err    error    // the cause; may be nil
	Known  []string // valid values, so that a program can suggest one; may be nil
	// Failed means that the options are valid, but a file, data or a run that they name is not. A
	// command line exits with 1 for it, and with 2 for all other problems.
	Failed bool
}

// New returns an Error about an option.
func New(field, value, text, advice string) *Error {
	return &Error{Field: field, Value: value, Text: text, Advice: advice}
}

// Failure returns an Error about an operation that failed although the options are valid.
func Failure(field, text, advice string) *Error {
	return &Error{Field: field, Text: text, Advice: advice, Failed: true}
}

// Advise returns an Error with the text of fmt.Errorf and with advice. It is a failure unless it
// wraps a misuse.
func Advise(advice, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Text: err.Error(), Advice: advice, Err: err, Failed: !IsMisuse(err)}
}

// Because returns e with a cause, which errors.Is and errors.As find.
func (e *Error) Because(cause error) *Error {
	e.Err = cause
	return e
}

// Wrap returns an Error about an option with the text of err.
func Wrap(field string, err error) *Error { return &Error{Field: field, Text: err.Error(), Err: err} }

// Error writes the parts as one sentence: `devices 0xcpu: 0 devices; write 1xcpu`.
func (e *Error) Error() string {
	e = e.WithOptionNames(func(option string) string { return option })
	s := e.Text
	switch {
	case e.Field != "" && e.Value != "":
		s = fmt.Sprintf("%s %s: %s", e.Field, e.Value, s)
	case e.Field != "":
		s = e.Field + ": " + s
	}
	if e.Advice != "" {
		s += "; " + e.Advice
	}
	return s
}

// option is an option that a text speaks of: "{bn-stats}".
var option = regexp.MustCompile(`\{[a-z]+(-[a-z]+)*\}`)

// WithOptionNames returns e with the name of every option, including Field, replaced by the result of call:
// the name that a user of the program knows, for example "--devices" for "devices".
func (e *Error) WithOptionNames(call func(option string) string) *Error {
	renamed := *e
	if e.Field != "" {
		renamed.Field = call(e.Field)
	}
	renamed.Text, renamed.Advice = ReplaceOptions(e.Text, call), ReplaceOptions(e.Advice, call)
	return &renamed
}

// ReplaceOptions returns text with every option in braces replaced by the result of call. With a nil call,
// an option is replaced by its bare name.
func ReplaceOptions(text string, call func(option string) string) string {
	return option.ReplaceAllStringFunc(text, func(braced string) string {
		name := braced[1 : len(braced)-1]
		if call == nil {
			return name
		}
		return call(name)
	})
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Plural writes a number of things that have a regular plural: "1 replica",
// "2 replicas", "2 classes".
func Plural(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case sibilant.MatchString(thing):
		return fmt.Sprintf("%d %ses", n, thing)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// not epoch, although it ends in ch
var sibilant = regexp.MustCompile(`(s|x|[^o]ch|sh)$`) // not epoch

// Misuse reports whether the caller could have avoided e. It returns false for a Failure.
func (e *Error) Misuse() bool { return !e.Failed }

// IsMisuse reports whether the caller could have avoided err: err is an *Error that is not a
// Failure, or an error of another type with a method Misuse that returns true.
func IsMisuse(err error) bool {
	var m interface {
		error
		Misuse() bool
	}
	return errors.As(err, &m) && m.Misuse()
}

// Unknown is the error of a name that does not exist. It is a misuse.
type Unknown struct {
	What  string   // the kind: "device", "model"
	Name  string   // name that does not exist
	Known []string // existing names, so that a program can suggest one
}

func (u *Unknown) Error() string {
	return fmt.Sprintf("unknown %s %q; there are %s", u.What, u.Name, strings.Join(u.Known, ", "))
}

// Misuse implements the method that IsMisuse calls.
func (u *Unknown) Misuse() bool { return true }
