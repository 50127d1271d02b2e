package protocol

import (
	"fmt"
	"net/http"
)

// Kind is why a request is refused, as far as a program has to know.
type Kind int

// The kinds, with the status that HTTP has for each.
const (
	Invalid       Kind = http.StatusBadRequest
	Unauthorised  Kind = http.StatusUnauthorized
	Forbidden     Kind = http.StatusForbidden
	NotFound      Kind = http.StatusNotFound
	TooLarge      Kind = http.StatusRequestEntityTooLarge
	Busy          Kind = http.StatusTooManyRequests // again later
	Canceled      Kind = 499                        // by the client, which reads no answer any more
	Internal      Kind = http.StatusInternalServerError
	Unimplemented Kind = http.StatusNotImplemented
	Unavailable   Kind = http.StatusServiceUnavailable
	Late          Kind = http.StatusGatewayTimeout // the request's own time is over
)

// Refusal is why a request has no answer.
type Refusal struct {
	Kind Kind
	Text string
}

func (r *Refusal) Error() string { return r.Text }

// Refuse returns a *Refusal.
func Refuse(k Kind, format string, args ...any) error {
	return &Refusal{k, fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error { return Refuse(Invalid, format, args...) }
