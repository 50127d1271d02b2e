package tracing

import (
	"context"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Span is what is told of a request that is over.
type Span struct {
	// Called is the method and the pattern of the path over HTTP, as
	// "POST /v2/models/{name}/infer"; over gRPC the service and the method.
	Called                    string
	GRPC                      bool
	Code                      string // "200", or "OK"
	Header                    func(key string) string
	Model, Version            string // that answered; "" if none did
	Rows                      int    // that were computed
	Began                     time.Time
	Queued, Computed, Encoded time.Duration
}

// Send makes a span of s, which ends now. Its parent is the one in the header
// traceparent (W3C Trace Context), if that is there.
func (t *Tracer) Send(s *Span) {
	ctx := propagation.TraceContext{}.Extract(context.Background(), header(s.Header))
	_, span := t.spans.Start(ctx, s.Called, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithTimestamp(s.Began), trace.WithAttributes(s.attributes()...))
	if s.failed() {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// attributes are those of the semantic conventions, and our own, which have the
// names of the metrics.
func (s *Span) attributes() []attribute.KeyValue {
	all := make([]attribute.KeyValue, 0, 9)
	if s.GRPC {
		all = append(all, semconv.RPCSystemNameGRPC, semconv.RPCMethod(s.Called),
			semconv.RPCResponseStatusCode(s.Code))
	} else {
		method, path, _ := strings.Cut(s.Called, " ")
		status, _ := strconv.Atoi(s.Code)
		all = append(all, semconv.HTTPRequestMethodKey.String(method), semconv.HTTPRoute(path),
			semconv.HTTPResponseStatusCode(status))
	}
	if s.Model == "" {
		return all
	}
	return append(all, attribute.String("bnctl.model", s.Model), attribute.String("bnctl.version", s.Version),
		attribute.Int("bnctl.rows", s.Rows), attribute.Float64("bnctl.queue_seconds", s.Queued.Seconds()),
		attribute.Float64("bnctl.device_seconds", s.Computed.Seconds()),
		attribute.Float64("bnctl.encode_seconds", s.Encoded.Seconds()))
}

// failed reports whether the server is to blame, by the conventions for spans
// of servers: a client's mistake is no error of theirs.
func (s *Span) failed() bool {
	if !s.GRPC {
		return strings.HasPrefix(s.Code, "5")
	}
	switch s.Code {
	case "Unknown", "DeadlineExceeded", "Unimplemented", "Internal", "Unavailable", "DataLoss":
		return true
	}
	return false
}

// header reads headers of a request.
type header func(key string) string

// Get implements propagation.TextMapCarrier, as the methods below do.
func (h header) Get(key string) string { return h(key) }

func (h header) Set(string, string) {}

func (h header) Keys() []string { return nil }
