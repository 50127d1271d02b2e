package server

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"strconv"
	"time"

	"github.com/bnctl/bnctl/internal/legible"
	"github.com/bnctl/bnctl/server/internal/protocol"
)

// Timeouts of a connection, in addition to the timeout of a request, and the largest size of headers.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	headerBytes   = 64 << 10
)

// newHTTP returns the server for HTTP.
func (s *Server) newHTTP() *http.Server {
	return newHTTPServer(s.withRecord(&guard{s.o.Security.Hosts, s.tokens, s.routes()}))
}

// Limits of a connection of HTTP/2. streams is the number of streams, and window the number of bytes in
// flight, enough for a picture of 224x224 pixels in float32. After silence without frames, a connection is
// pinged. It is closed if the client does not answer within alive, or reads nothing for silence.
const (
	streams = 256
	window  = 1 << 20
	silence = 30 * time.Second
	alive   = 20 * time.Second
)

// newHTTPServer returns an HTTP server with timeouts for headers and idle connections.
// Bodies and responses have separate deadlines.
func newHTTPServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: headerBytes, ErrorLog: log.New(io.Discard, "", 0),
		ConnState: onConnState, ConnContext: connContext,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: streams, MaxReadFrameSize: 16 << 10,
			MaxReceiveBufferPerConnection: window, MaxReceiveBufferPerStream: window,
			SendPingTimeout: silence, PingTimeout: alive, WriteByteTimeout: silence}}
}

// newHealth returns the server for health probes: live and ready.
func (s *Server) newHealth() *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /v2/health/live", handlerFunc(s.live))
	mux.Handle("GET /v2/health/ready", handlerFunc(s.ready))
	h := newHTTPServer(strictMux{mux})
	h.ReadTimeout, h.WriteTimeout = headerTimeout, headerTimeout
	return h
}

// handlerFunc handles a request. If it returns an error, the error is sent as the response.
type handlerFunc func(w http.ResponseWriter, r *http.Request) error

// routes returns the handler of all paths.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]handlerFunc{
		"GET /v2":                                  s.serverMetadata,
		"GET /v2/health/live":                      s.live,
		"GET /v2/health/ready":                     s.ready,
		"GET /v2/models/stats":                     s.statistics,
		"POST /v2/repository/index":                s.repositoryIndex,
		"POST /v2/repository/models/{name}/load":   notSupported,
		"POST /v2/repository/models/{name}/unload": notSupported,
		"/v2/systemsharedmemory/":                  notSupported,
		"/v2/cudasharedmemory/":                    notSupported,
	} {
		mux.Handle(pattern, answer)
	}
	for _, model := range []string{"/v2/models/{name}", "/v2/models/{name}/versions/{version}"} {
		mux.Handle("GET "+model, handlerFunc(s.modelMetadata))
		mux.Handle("GET "+model+"/ready", handlerFunc(s.modelReady))
		mux.Handle("GET "+model+"/config", handlerFunc(s.modelConfig))
		mux.Handle("GET "+model+"/stats", handlerFunc(s.statistics))
		mux.Handle("POST "+model+"/infer", handlerFunc(s.inferHTTP))
		mux.Handle("POST "+model+"/predict", handlerFunc(s.predictHTTP))
		mux.Handle("GET "+model+"/predict", handlerFunc(s.predictionMetadata))
		mux.Handle("POST "+model+"/classify", handlerFunc(s.classify))
		mux.Handle("POST "+model+"/segment", handlerFunc(s.segment))
		mux.Handle("POST "+model+"/detect", handlerFunc(s.detect))
		mux.Handle("GET "+model+"/layers", handlerFunc(s.layers))
		mux.Handle("GET "+model+"/activity", handlerFunc(s.activity))
	}
	mux.Handle("GET /metrics", s.metrics.handler())
	for _, file := range []string{"/{$}", "/icon.svg", "/page.css", "/page.js"} {
		mux.Handle("GET "+file, pageFiles())
	}
	return strictMux{mux}
}

// ServeHTTP implements http.Handler.
func (a handlerFunc) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := a(w, r); err != nil {
		writeError(w, err)
	}
}

// writeError writes the response for an error.
func writeError(w http.ResponseWriter, err error) {
	status := statusOf(err)
	if status == int(protocol.Busy) || status == int(protocol.Unavailable) {
		w.Header().Set("Retry-After", "1")
	}
	writeBody(w, status, errorJSON(err))
}

// statusOf returns the HTTP status for an error.
func statusOf(err error) int {
	var r *protocol.Refusal
	if errors.As(err, &r) {
		return int(r.Kind)
	}
	return http.StatusInternalServerError
}

// errorJSON returns the JSON for an error.
func errorJSON(err error) []byte {
	return toJSON(map[string]string{"error": legible.Short(err.Error())})
}

func toJSON(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic("server: " + err.Error()) // all types that are passed here can be encoded
	}
	return body
}

// writeJSON writes a JSON response.
func writeJSON(w http.ResponseWriter, status int, v any) { writeBody(w, status, toJSON(v)) }

// writeBody writes a JSON response. It ignores errors, which mean that the client is gone.
func writeBody(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// findPath returns the model version that a path names.
func (s *Server) findPath(r *http.Request) (*modelVersion, error) {
	return s.find(r.PathValue("name"), r.PathValue("version"))
}
