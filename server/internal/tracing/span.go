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

// Span describes a finished request.
type Span struct {
	// Name is the method and the pattern of the path over HTTP, like "POST /v2/models/{name}/infer". Over gRPC
	// it is the service and the method.
	Name                      string
	GRPC                      bool
	Code                      string // "200", or "OK"
	Header                    func(key string) string
	Model, Version            string // model that answered; "" if the request was refused
	Rows                      int    // number of rows computed
	Began                     time.Time
	Queued, Computed, Encoded time.Duration
}

// Send sends the span that s describes. It ends now. Its parent is the span in the header traceparent (W3C
// Trace Context), if the request has this header.
func (t *Tracer) Send(s *Span) {
	ctx := propagation.TraceContext{}.Extract(context.Background(), header(s.Header))
	_, span := t.spans.Start(ctx, s.Name, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithTimestamp(s.Began), trace.WithAttributes(s.attributes()...))
	if s.failed() {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// attributes returns the attributes of OpenTelemetry's semantic conventions, and attributes of
// bnctl with the names of the metrics.
func (s *Span) attributes() []attribute.KeyValue {
	all := make([]attribute.KeyValue, 0, 9)
	if s.GRPC {
		all = append(all, semconv.RPCSystemNameGRPC, semconv.RPCMethod(s.Name),
			semconv.RPCResponseStatusCode(s.Code))
	} else {
		method, path, _ := strings.Cut(s.Name, " ")
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

// failed reports whether the server is at fault. By OpenTelemetry's conventions for spans of servers, errors
// of clients do not count.
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

// header implements propagation.TextMapCarrier for the headers of a request.
type header func(key string) string

// Get implements propagation.TextMapCarrier, as the methods below do.
func (h header) Get(key string) string { return h(key) }

func (h header) Set(string, string) {}

func (h header) Keys() []string { return nil }
