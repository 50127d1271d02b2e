package tracing

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bnctl/bnctl/problem"
)

// TestEnvironment checks valid and invalid settings in the environment.
func TestEnvironment(t *testing.T) {
	for _, c := range []struct {
		env  string // NAME=VALUE, separated by spaces
		want string // "on", "off" or the text of the error
	}{
		{"", "off"},
		{"OTEL_SERVICE_NAME=x", "off"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://h:4318", "on"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://h/v1/traces", "on"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=h:4317 OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://h", "on"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://h OTEL_SDK_DISABLED=TRUE", "off"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://h OTEL_TRACES_EXPORTER=none", "off"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://h OTEL_EXPORTER_OTLP_PROTOCOL=http/json", "on"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://h OTEL_EXPORTER_OTLP_PROTOCOL=grpc", `PROTOCOL is "grpc"`},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=h:4317", `ENDPOINT is "h:4317"`},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://", `TRACES_ENDPOINT is "http://"`},
	} {
		t.Run(c.env, func(t *testing.T) {
			for _, pair := range strings.Fields(c.env) {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
			}
			tracer, err := Open(t.Context(), "1", nil)
			var bad *problem.Error
			if err != nil {
				if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
				return
			}
			defer tracer.Close()
			if (tracer != nil) != (c.want == "on") {
				t.Errorf("a tracer: %t, want %s", tracer != nil, c.want)
			}
		})
	}
}

// TestCollectorFails checks that a collector that refuses spans is reported once, and that it is reported
// when it accepts spans again. Here the collector is a folder, which accepts spans while there is a file with
// their path in it.
func TestCollectorFails(t *testing.T) {
	folder := t.TempDir()
	collector := httptest.NewServer(http.FileServer(http.Dir(folder)))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	var notes []string
	tracer, err := Open(t.Context(), "1", func(format string, _ ...any) { notes = append(notes, format) })
	if err != nil {
		t.Fatal(err)
	}
	defer tracer.Close()
	for _, takes := range []bool{true, false, false, true} {
		path := filepath.Join(folder, "v1", "traces")
		err := os.RemoveAll(path)
		if takes {
			err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644))
		}
		tracer.Send(&Span{Name: "POST /x", Code: "200", Header: http.Header{}.Get, Began: time.Now()})
		if err := errors.Join(err, tracer.provider.ForceFlush(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	if len(notes) != 2 || !strings.HasSuffix(notes[1], "again") {
		t.Errorf("heard %q, want one failure and its end", notes)
	}
}

// TestFailed checks that a span is marked as an error only if the server is at fault.
func TestFailed(t *testing.T) {
	for _, c := range []struct {
		grpc bool
		code string
		want bool
	}{{false, "200", false}, {false, "429", false}, {false, "503", true}, {true, "OK", false},
		{true, "InvalidArgument", false}, {true, "Unavailable", true}} {
		if got := (&Span{GRPC: c.grpc, Code: c.code}).failed(); got != c.want {
			t.Errorf("%s: %t, want %t", c.code, got, c.want)
		}
	}
}
