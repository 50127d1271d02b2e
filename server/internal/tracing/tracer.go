package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Tracer sends spans in batches, from a separate goroutine. Requests never wait for it:
// spans that the collector does not accept in time are dropped.
type Tracer struct {
	provider *sdk.TracerProvider
	spans    trace.Tracer
}

// Open returns a tracer configured by the variables of the OpenTelemetry specification, or nil if
// they name no endpoint. note is called when the collector begins to refuse spans, and when it
// accepts them again. The caller closes the tracer. The error is a *problem.Error if a variable is
// invalid.
func Open(ctx context.Context, release string, note func(format string, args ...any)) (*Tracer, error) {
	if ok, err := wanted(); !ok || err != nil {
		return nil, err
	}
	described, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(semconv.ServiceName("bnctl"), semconv.ServiceVersion(release)),
		resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	to, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	exporter := &loggingExporter{to, note, false}
	provider := sdk.NewTracerProvider(sdk.WithResource(described), sdk.WithBatcher(exporter))
	return &Tracer{provider, provider.Tracer("github.com/bnctl/bnctl/server")}, nil
}

// endTime is the maximum time for sending the last spans.
const endTime = 2 * time.Second

// Close sends the remaining spans, and ends the goroutine. On a nil Tracer it does nothing.
func (t *Tracer) Close() error {
	if t == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), endTime)
	defer stop()
	_ = t.provider.Shutdown(ctx) // spans that are not accepted in time are dropped
	return nil
}

// loggingExporter notes when exports begin to fail, and when they succeed again.
type loggingExporter struct {
	sdk.SpanExporter
	note    func(format string, args ...any)
	failing bool
}

// ExportSpans implements sdk.SpanExporter. One goroutine at a time calls it.
func (n *loggingExporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := n.SpanExporter.ExportSpans(ctx, spans)
	switch {
	case err != nil && !n.failing:
		n.note("traces are not taken: %v", err)
	case err == nil && n.failing:
		n.note("traces are taken again")
	}
	n.failing = err != nil
	return nil
}
