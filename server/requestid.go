package server

import (
	"cmp"
	"log/slog"
	"net/http"
	"regexp"

	"github.com/bnctl/bnctl/internal/legible"
)

// maxIDBytes is the maximum length of an id in the log. It is limited because clients choose ids.
const maxIDBytes = 128

// requestID returns the id of a request: the value of the header X-Request-ID, or without the header the id
// in the body.
func (r *record) requestID(h http.Header) string {
	id := cmp.Or(h.Get("X-Request-Id"), r.id)
	return legible.Text(id[:min(len(id), maxIDBytes)])
}

// traceParent is the header of W3C Trace Context.
var traceParent = regexp.MustCompile(`^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}`)

// traceID returns the ID of the trace that a request belongs to, or "".
func traceID(h http.Header) string {
	if m := traceParent.FindStringSubmatch(h.Get("Traceparent")); m != nil {
		return m[1]
	}
	return ""
}

// LogNotes returns a function for Options.Note that writes messages to the log l. The same log may also be
// Options.Access.
func LogNotes(l *slog.Logger) func(format string, args ...any) {
	return func(format string, args ...any) { l.Info(legible.Short(legible.Sprintf(format, args...))) }
}
