package server

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
	"github.com/bnctl/bnctl/server/internal/tracing"
)

// record is what is known of a request when it is over.
type record struct {
	model, version            string // that answered; "" if none did
	rows                      int    // that were computed
	queued, computed, encoded time.Duration
}

type recordKey struct{}

// recordOf returns the record of the request that ctx belongs to.
func recordOf(ctx context.Context) *record {
	if r, ok := ctx.Value(recordKey{}).(*record); ok {
		return r
	}
	return &record{}
}

// recorded counts and logs what next answers.
func (s *Server) recorded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, rec := time.Now(), &record{}
		pace := http.NewResponseController(w)
		_ = pace.SetWriteDeadline(time.Time{}) // that of the last answer
		if r.ContentLength != 0 {
			_ = pace.SetReadDeadline(s.due(max(r.ContentLength, 0)))
		}
		out := &counted{ResponseWriter: w, status: http.StatusOK}
		r = r.WithContext(context.WithValue(r.Context(), recordKey{}, rec))
		next.ServeHTTP(out, r)
		code := strconv.Itoa(out.status)
		s.metrics.count(rec, "http", code)
		s.log(r.Context(), rec, began, "http", code, r.Method+" "+r.URL.Path, r.RemoteAddr)
		if s.traces != nil && strings.HasPrefix(r.Pattern, "POST /v2/models/") { // by then the mux has set it
			s.trace(rec, &tracing.Span{Called: r.Pattern, Code: code, Began: began, Header: r.Header.Get})
		}
	})
}

// trace sends the span of an inference.
func (s *Server) trace(rec *record, r *tracing.Span) {
	r.Model, r.Version, r.Rows = rec.model, rec.version, rec.rows
	r.Queued, r.Computed, r.Encoded = rec.queued, rec.computed, rec.encoded
	s.traces.Send(r)
}

// counted remembers the status of an answer.
type counted struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (c *counted) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// recordGRPC counts and logs a call that is over.
func (s *Server) recordGRPC(ctx context.Context, rec *record, began time.Time, method string, err error) {
	from := ""
	if p, ok := peer.FromContext(ctx); ok {
		from = p.Addr.String()
	}
	code := status.Code(err).String()
	s.metrics.count(rec, "grpc", code)
	s.log(ctx, rec, began, "grpc", code, method, from)
	if s.traces != nil && method == pb.GRPCInferenceService_ModelInfer_FullMethodName {
		s.trace(rec, &tracing.Span{Called: method[1:], GRPC: true, Code: code, Began: began,
			Header: func(key string) string { return strings.Join(metadata.ValueFromIncomingContext(ctx, key), ",") }})
	}
}

// log writes a line about a request, if anybody reads them.
func (s *Server) log(ctx context.Context, r *record, began time.Time, protocol, code, what, from string) {
	if s.o.Access == nil {
		return
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	s.o.Access.LogAttrs(ctx, slog.LevelInfo, "request", slog.String("protocol", protocol),
		slog.String("what", what), slog.String("code", code), slog.String("from", from),
		slog.String("model", r.model), slog.String("version", r.version), slog.Int("rows", r.rows),
		slog.Float64("queue_ms", ms(r.queued)), slog.Float64("device_ms", ms(r.computed)),
		slog.Float64("encode_ms", ms(r.encoded)), slog.Float64("ms", ms(time.Since(began))))
}
