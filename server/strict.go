package server

import (
	"net/http"
	"path"

	"github.com/bnctl/bnctl/server/internal/protocol"
)

// strict answers what the table has, as it is written there: no path is cleaned
// or redirected, and what is refused has the form of all refusals.
type strict struct{ mux *http.ServeMux }

// ServeHTTP implements http.Handler.
func (s strict) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	handler, pattern := s.mux.Handler(r)
	if pattern != "" && path.Clean(r.URL.Path) == r.URL.Path {
		s.mux.ServeHTTP(w, r)
		return
	}
	trial := refused{header: http.Header{}}
	if pattern == "" {
		handler.ServeHTTP(&trial, r)
	}
	if trial.status == http.StatusMethodNotAllowed {
		allow := trial.header.Get("Allow")
		w.Header().Set("Allow", allow)
		writeError(w, protocol.Refuse(http.StatusMethodNotAllowed, "this path takes %s, not %s", allow, r.Method))
		return
	}
	writeError(w, protocol.Refuse(protocol.NotFound, "there is nothing at this path"))
}

// refused is how the mux refuses a request, of which the words are not taken.
type refused struct {
	header http.Header
	status int
}

// Header implements http.ResponseWriter.
func (f *refused) Header() http.Header { return f.header }

// WriteHeader implements http.ResponseWriter.
func (f *refused) WriteHeader(status int) { f.status = status }

// Write implements http.ResponseWriter.
func (f *refused) Write(b []byte) (int, error) { return len(b), nil }
