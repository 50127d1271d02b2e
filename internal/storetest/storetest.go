// Package storetest starts the servers that package store is tested with: an S3-compatible server
// (gofakes3), a registry (go-containerregistry), and a web server with the URLs and headers of the
// Hugging Face hub. Only tests import it.
package storetest

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Test is a test that the servers belong to: a *testing.T, or a script.
type Test interface {
	Cleanup(func())
	Fatal(...any)
}

// Server is a server for tests, which may fail on request.
type Server struct {
	URL string

	mu       sync.Mutex
	requests []*http.Request
	before   func(w http.ResponseWriter, r *http.Request) bool
	delay    time.Duration
}

// Before sets a function that is called first with each request. It returns true if it has answered.
func (s *Server) Before(f func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = f
}

// SetDelay makes each request last longer.
func (s *Server) SetDelay(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay = d
}

// Requests returns the requests since the previous call.
func (s *Server) Requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.requests
	s.requests = nil
	return all
}

// start serves a handler until the test ends.
func start(t Test, handler http.Handler) *Server {
	s := &Server{}
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r)
		before, delay := s.before, s.delay
		s.mu.Unlock()
		time.Sleep(delay)
		if before == nil || !before(w, r) {
			handler.ServeHTTP(w, r)
		}
	}))
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	web.Start()
	t.Cleanup(web.Close)
	s.URL = web.URL
	return s
}

// WebTLS serves a handler over HTTPS. Its certificate is for example.com and 127.0.0.1.
func WebTLS(t Test, handler http.Handler) *httptest.Server {
	web := httptest.NewUnstartedServer(handler)
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	web.StartTLS()
	t.Cleanup(web.Close)
	return web
}

// Web serves a handler of the test.
func Web(t Test, handler http.Handler) *Server { return start(t, handler) }

// Bucket is an S3-compatible server that stores files in memory.
type Bucket struct {
	*Server
	t       Test
	backend *s3mem.Backend
}

// Put stores a file without a request.
func (b *Bucket) Put(bucket, key string, content []byte) {
	meta := map[string]string{"Last-Modified": "Mon, 2 Jan 2006 15:04:05 GMT"}
	_, err := b.backend.PutObject(bucket, key, meta, bytes.NewReader(content), int64(len(content)), nil)
	if err != nil {
		b.t.Fatal(err)
	}
}

// S3 starts an S3-compatible server with empty buckets.
func S3(t Test, buckets ...string) *Bucket {
	backend := s3mem.New()
	for _, name := range buckets {
		if err := backend.CreateBucket(name); err != nil {
			t.Fatal(err)
		}
	}
	return &Bucket{start(t, gofakes3.New(backend, gofakes3.WithTimeSkewLimit(0)).Server()), t, backend}
}

// Registry starts an OCI registry.
func Registry(t Test) *Server {
	return start(t, registry.New(registry.Logger(log.New(io.Discard, "", 0))))
}
