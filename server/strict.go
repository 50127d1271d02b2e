package server

import (
	"net/http"
	"path"

	"github.com/bnctl/bnctl/server/internal/protocol"
)

// strictMux serves only requests with the exact paths of mux. Unlike mux, it never cleans or redirects a
// path, and its errors have the same form as all other errors of the server.
type strictMux struct{ mux *http.ServeMux }

// ServeHTTP implements http.Handler.
func (s strictMux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	handler, pattern := s.mux.Handler(r)
	if pattern != "" && path.Clean(r.URL.Path) == r.URL.Path {
		s.mux.ServeHTTP(w, r)
		return
	}
	trial := discardWriter{header: http.Header{}}
	if pattern == "" {
		handler.ServeHTTP(&trial, r)
	}
	if trial.status == http.StatusMethodNotAllowed {
		allow := trial.header.Get("Allow")
		w.Header().Set("Allow", allow)
		writeError(w, protocol.Refuse(http.StatusMethodNotAllowed, "this path accepts %s, not %s", allow, r.Method))
		return
	}
	writeError(w, protocol.Refuse(protocol.NotFound, "there is nothing at this path"))
}

// discardWriter records the status of mux's error responses and discards their text.
type discardWriter struct {
	header http.Header
	status int
}

// Header implements http.ResponseWriter.
func (f *discardWriter) Header() http.Header { return f.header }

// WriteHeader implements http.ResponseWriter.
func (f *discardWriter) WriteHeader(status int) { f.status = status }

// Write implements http.ResponseWriter.
func (f *discardWriter) Write(b []byte) (int, error) { return len(b), nil }
