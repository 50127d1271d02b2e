// Package tracing sends a span of every request that is over to a collector of
// OpenTelemetry (OTLP over HTTP), where the environment names one.
package tracing
