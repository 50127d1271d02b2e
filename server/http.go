package server

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"strconv"
	"time"

	"github.com/bnctl/bnctl/server/internal/protocol"
)

// Time-outs of connections, beside that of a request as a whole.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	headerBytes   = 64 << 10
)

// newHTTP returns what answers over HTTP.
func (s *Server) newHTTP() *http.Server {
	return plain(s.recorded(&guard{s.o.Security.Hosts, s.tokens, s.routes()}))
}

// A connection of HTTP/2 has so many requests under way, and may send so many
// bytes before they are taken: a picture of 224x224 pixels as float32 and more,
// without a round trip. One that says nothing for so long is asked whether it
// lives, and has so long to answer, or to take what waits.
const (
	streams = 256
	window  = 1 << 20
	silence = 30 * time.Second
	alive   = 20 * time.Second
)

// plain returns a server of HTTP with time-outs. Bodies and answers have their own.
func plain(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: headerBytes, ErrorLog: log.New(io.Discard, "", 0),
		ConnState: follow, ConnContext: withConnection,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: streams, MaxReadFrameSize: 16 << 10,
			MaxReceiveBufferPerConnection: window, MaxReceiveBufferPerStream: window,
			SendPingTimeout: silence, PingTimeout: alive, WriteByteTimeout: silence}}
}

// newHealth returns what answers whether the server is live and ready.
func (s *Server) newHealth() *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /v2/health/live", answering(s.live))
	mux.Handle("GET /v2/health/ready", answering(s.ready))
	h := plain(strict{mux})
	h.ReadTimeout, h.WriteTimeout = headerTimeout, headerTimeout
	return h
}

// answering answers a request, or says why it does not.
type answering func(w http.ResponseWriter, r *http.Request) error

// routes is the table of what is answered over HTTP.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]answering{
		"GET /v2":                                  s.serverMetadata,
		"GET /v2/health/live":                      s.live,
		"GET /v2/health/ready":                     s.ready,
		"POST /v2/repository/index":                s.repositoryIndex,
		"POST /v2/repository/models/{name}/load":   unserved,
		"POST /v2/repository/models/{name}/unload": unserved,
		"/v2/systemsharedmemory/":                  unserved,
		"/v2/cudasharedmemory/":                    unserved,
	} {
		mux.Handle(pattern, answer)
	}
	for _, model := range []string{"/v2/models/{name}", "/v2/models/{name}/versions/{version}"} {
		mux.Handle("GET "+model, answering(s.modelMetadata))
		mux.Handle("GET "+model+"/ready", answering(s.modelReady))
		mux.Handle("GET "+model+"/config", answering(s.modelConfig))
		mux.Handle("POST "+model+"/infer", answering(s.inferHTTP))
		mux.Handle("POST "+model+"/classify", answering(s.classify))
		mux.Handle("GET "+model+"/layers", answering(s.layers))
	}
	mux.Handle("GET /metrics", s.metrics.handler())
	for _, file := range []string{"/{$}", "/icon.svg", "/page.css", "/page.js"} {
		mux.Handle("GET "+file, pageFiles())
	}
	return strict{mux}
}

// ServeHTTP implements http.Handler.
func (a answering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := a(w, r); err != nil {
		writeError(w, err)
	}
}

// writeError writes the body of everything that is no answer.
func writeError(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	var r *protocol.Refusal
	if errors.As(err, &r) {
		status = int(r.Kind)
	}
	if status == int(protocol.Busy) || status == int(protocol.Unavailable) {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, status, map[string]string{"error": err.Error()})
}

// writeJSON writes a body. That the client does not read it is no error here.
func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic("server: " + err.Error()) // our own types
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// find returns the version of a model that a path names.
func (s *Server) findPath(r *http.Request) (*served, error) {
	return s.find(r.PathValue("name"), r.PathValue("version"))
}
