package protocol

import (
	"fmt"
	"net/http"
)

// Kind is the kind of a refusal.
type Kind int

// The kinds of refusals. Their values are HTTP status codes.
const (
	Invalid          Kind = http.StatusBadRequest
	Unauthorised     Kind = http.StatusUnauthorized
	Forbidden        Kind = http.StatusForbidden
	NotFound         Kind = http.StatusNotFound
	TooLarge         Kind = http.StatusRequestEntityTooLarge
	Busy             Kind = http.StatusTooManyRequests // try again later
	Canceled         Kind = 499                        // the client has disconnected
	Internal         Kind = http.StatusInternalServerError
	Unimplemented    Kind = http.StatusNotImplemented
	Unavailable      Kind = http.StatusServiceUnavailable
	DeadlineExceeded Kind = http.StatusGatewayTimeout // the timeout of the request is over
)

// Refusal is the error for a request that gets no answer.
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
