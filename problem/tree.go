package problem

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
