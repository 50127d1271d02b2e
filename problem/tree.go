package problem

import "strings"

// Split returns the text of err and, separately, the advice of the first Error in it that has
// advice, with options in braces, or "".
func Split(err error) (text, advice string) {
	text = err.Error()
	for _, e := range In(err) {
		if e.Advice != "" {
			return strings.TrimSuffix(text, "; "+ReplaceOptions(e.Advice, nil)), e.Advice
		}
	}
	return text, ""
}

// In returns every Error that err is or wraps, the outermost first.
func In(err error) []*Error {
	var found []*Error
	if p, ok := err.(*Error); ok {
		found = append(found, p)
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if cause := e.Unwrap(); cause != nil {
			found = append(found, In(cause)...)
		}
	case interface{ Unwrap() []error }:
		for _, cause := range e.Unwrap() {
			found = append(found, In(cause)...)
		}
	}
	return found
}
