package server

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/status"

	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
	"github.com/bnctl/bnctl/server/internal/tracing"
)

// record describes a request for logs, metrics and traces.
type record struct {
	model, version            string        // model that answered; "" if the request was refused
	refused                   *modelVersion // the version that refused the request because its queue was full
	rows                      int           // number of rows computed
	queued, computed, encoded time.Duration
	reservation               reservation
	bodyUnused                bool   // the body is not needed any more
	id                        string // id that the client gave the request
}

// answering returns the model and version that answered or refused the request, or "" if they are not known.
func (r *record) answering() (model, version string) {
	if r.model == "" && r.refused != nil {
		return r.refused.name, r.refused.label()
	}
	return r.model, r.version
}

type recordKey struct{}

// recordOf returns the record of the request that the context ctx belongs to.
func recordOf(ctx context.Context) *record {
	if r, ok := ctx.Value(recordKey{}).(*record); ok {
		return r
	}
	return &record{}
}

// withRecord returns a handler that counts and logs the requests to the handler next, and releases their
// memory when the response is written.
func (s *Server) withRecord(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, rec := time.Now(), &record{}
		controller := http.NewResponseController(w)
		_ = controller.SetWriteDeadline(s.deadline(0).Add(s.o.Timeout)) // an inference later sets another deadline
		if r.ContentLength != 0 {
			_ = controller.SetReadDeadline(s.deadline(max(r.ContentLength, 0)))
		}
		out := &statusWriter{ResponseWriter: w, status: http.StatusOK, leaving: &s.draining}
		r = r.WithContext(context.WithValue(r.Context(), recordKey{}, rec))
		defer rec.reservation.release()
		if err := s.reserveHeaders(r, rec); err != nil {
			writeError(out, err)
		} else {
			next.ServeHTTP(out, r)
		}
		code := strconv.Itoa(out.status)
		s.metrics.count(rec, "http", code)
		s.log(r, rec, began, "http", code, r.Method+" "+r.URL.Path)
		if s.traces != nil && strings.HasPrefix(r.Pattern, "POST /v2/models/") { // the mux has set r.Pattern
			s.trace(rec, &tracing.Span{Name: r.Pattern, Code: code, Began: began, Header: r.Header.Get})
		}
	})
}

// reserveHeaders reserves memory for a request without its body.
func (s *Server) reserveHeaders(r *http.Request, rec *record) error {
	from, _ := r.Context().Value(connKey{}).(*trackedConn)
	rec.reservation = reservation{memoryBudget: &s.budget, conn: from}
	n := int64(len(r.RequestURI))
	for name, values := range r.Header {
		for _, v := range values {
			n += int64(len(name)+len(v)) + headerOverhead
		}
	}
	if r.ProtoMajor == 2 {
		if err := from.useHTTP2(http2ExtraBytes + headerGrowth*headerBytes); err != nil {
			return err
		}
		n += streamBytes
	}
	return rec.reservation.grow(n)
}

// trace sends the span of an inference.
func (s *Server) trace(rec *record, r *tracing.Span) {
	r.Model, r.Version, r.Rows = rec.model, rec.version, rec.rows
	r.Queued, r.Computed, r.Encoded = rec.queued, rec.computed, rec.encoded
	s.traces.Send(r)
}

// statusWriter is a response writer that records the status. While the server shuts down, it also adds the
// header that makes the client close the connection.
type statusWriter struct {
	http.ResponseWriter
	status  int
	begun   bool
	leaving *atomic.Bool
}

// WriteHeader implements http.ResponseWriter.
func (c *statusWriter) WriteHeader(status int) {
	c.begun, c.status = true, status
	if c.leaving.Load() {
		c.Header().Set("Connection", "close")
	}
	c.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (c *statusWriter) Write(b []byte) (int, error) {
	if !c.begun {
		c.WriteHeader(http.StatusOK)
	}
	return c.ResponseWriter.Write(b)
}

// Unwrap gives http.ResponseController access to the response.
func (c *statusWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// recordGRPC counts and logs a finished gRPC call.
func (s *Server) recordGRPC(r *http.Request, rec *record, began time.Time, err error) {
	code := status.Code(err).String()
	s.metrics.count(rec, "grpc", code)
	s.log(r, rec, began, "grpc", code, r.URL.Path)
	if s.traces != nil && r.URL.Path == pb.GRPCInferenceService_ModelInfer_FullMethodName {
		s.trace(rec, &tracing.Span{Name: r.URL.Path[1:], GRPC: true, Code: code, Began: began,
			Header: func(key string) string { return strings.Join(r.Header.Values(key), ",") }})
	}
}

// log writes a line about a request if Options.Access is set.
func (s *Server) log(request *http.Request, r *record, began time.Time, protocol, code, detail string) {
	if s.o.Access == nil {
		return
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	s.o.Access.LogAttrs(request.Context(), slog.LevelInfo, "request", slog.String("protocol", protocol),
		slog.String("what", detail), slog.String("code", code), slog.String("from", request.RemoteAddr),
		slog.String("model", r.model), slog.String("version", r.version), slog.Int("rows", r.rows),
		slog.Float64("queue_ms", ms(r.queued)), slog.Float64("device_ms", ms(r.computed)),
		slog.Float64("encode_ms", ms(r.encoded)), slog.Float64("ms", ms(time.Since(began))),
		slog.String("request_id", r.requestID(request.Header)), slog.String("trace_id", traceID(request.Header)))
}
