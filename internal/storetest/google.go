package storetest

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// google gives gofakes3 the headers, generations and conditions of Google Cloud Storage.
type google struct {
	handler http.Handler

	mu          sync.Mutex
	generations map[string]int // generations by path
	newest      int
}

// Google starts a server with the XML API of Google Cloud Storage, and with empty buckets.
func Google(t Test, buckets ...string) *Bucket {
	backend := s3mem.New()
	for _, name := range buckets {
		if err := backend.CreateBucket(name); err != nil {
			t.Fatal(err)
		}
	}
	g := &google{handler: gofakes3.New(backend, gofakes3.WithTimeSkewLimit(0)).Server(),
		generations: map[string]int{}, newest: 1700000000000000}
	return &Bucket{start(t, g), t, backend}
}

// rename replaces the beginning of the names of headers. It returns how many there are.
func rename(h http.Header, oldPrefix, newPrefix string) (n int) {
	for name, values := range h {
		if rest, ok := strings.CutPrefix(name, oldPrefix); ok {
			delete(h, name)
			h[newPrefix+rest] = values
			n++
		}
	}
	return n
}

// ServeHTTP implements http.Handler. A request with a token that has headers of both kinds is refused.
func (g *google) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	want := r.Header.Get("X-Goog-If-Generation-Match")
	if strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
		for name := range r.Header {
			if strings.HasPrefix(name, "X-Amz-") {
				refuse(w, http.StatusBadRequest, "InvalidArgument")
				return
			}
		}
		rename(r.Header, "X-Goog-Meta-", "X-Amz-Meta-")
	}
	if r.Method == http.MethodPut {
		g.mu.Lock()
		defer g.mu.Unlock()
		if want != "" && want != fmt.Sprint(g.generations[r.URL.Path]) {
			refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
			return
		}
		g.newest++
		g.generations[r.URL.Path] = g.newest
		w.Header().Set("X-Goog-Generation", fmt.Sprint(g.newest))
	} else {
		g.mu.Lock()
		if n := g.generations[r.URL.Path]; n > 0 {
			w.Header().Set("X-Goog-Generation", fmt.Sprint(n))
		}
		g.mu.Unlock()
	}
	g.handler.ServeHTTP(&googleWriter{w}, r)
}

func refuse(w http.ResponseWriter, code int, name string) {
	w.WriteHeader(code)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", name)
}

// googleWriter renames the headers of responses as Google names them.
type googleWriter struct{ http.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *googleWriter) WriteHeader(code int) {
	rename(w.Header(), "X-Amz-Meta-", "X-Goog-Meta-")
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *googleWriter) Write(b []byte) (int, error) {
	rename(w.Header(), "X-Amz-Meta-", "X-Goog-Meta-")
	return w.ResponseWriter.Write(b)
}
