// Package tracing sends a span for every finished request to an OpenTelemetry
// collector (OTLP over HTTP), if the environment has the address of one.
package tracing
