package tracing

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/bnctl/bnctl/problem"
)

// These variables of the OpenTelemetry specification enable or disable spans. The OpenTelemetry library reads
// the other variables, for headers, certificates, samplers and queues.
const (
	endpointKey = "OTEL_EXPORTER_OTLP_ENDPOINT"
	tracesKey   = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	disabledKey = "OTEL_SDK_DISABLED"
	exporterKey = "OTEL_TRACES_EXPORTER"
)

// wanted reports whether the environment enables spans. The error is a *problem.Error if a variable is
// invalid. The OpenTelemetry library would silently use a default then.
func wanted() (bool, error) {
	name := tracesKey
	if os.Getenv(name) == "" {
		name = endpointKey
	}
	endpoint := os.Getenv(name)
	if endpoint == "" || strings.EqualFold(os.Getenv(disabledKey), "true") || os.Getenv(exporterKey) == "none" {
		return false, nil
	}
	if u, err := url.Parse(endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return false, problem.New("", "", fmt.Sprintf("%s is %q, want http://HOST:PORT or https://HOST:PORT", name,
			endpoint), "")
	}
	return true, checkProtocol(cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"),
		os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL")))
}

// checkProtocol returns an error for protocols other than HTTP.
func checkProtocol(protocol string) error {
	switch protocol {
	case "", "http/protobuf", "http/json":
		return nil
	}
	text := fmt.Sprintf("OTEL_EXPORTER_OTLP_PROTOCOL is %q, and traces are sent over HTTP only", protocol)
	return problem.New("", "", text, "set http/protobuf, and name the collector's port for it, 4318 by default")
}
