package server

import (
	"encoding/hex"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
)

// collector is a collector of OpenTelemetry that keeps the spans it receives.
type collector struct {
	mu    sync.Mutex
	spans map[string]*tracepb.Span // spans by the ID of their parent
	of    map[string]string        // attributes of the sender (the resource)
}

// ServeHTTP implements http.Handler.
func (c *collector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var in collectorpb.ExportTraceServiceRequest
	if r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &in) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, rs := range in.ResourceSpans {
		c.of = texts(rs.Resource.Attributes)
		for _, s := range rs.ScopeSpans {
			for _, span := range s.Spans {
				c.spans[hex.EncodeToString(span.ParentSpanId)] = span
			}
		}
	}
}

func texts(all []*commonpb.KeyValue) map[string]string {
	m := map[string]string{}
	for _, a := range all {
		m[a.Key] = a.Value.GetStringValue()
	}
	return m
}

// told returns the value of a numeric attribute of a span, or -1 if it has no such attribute.
func told(s *tracepb.Span, key string) float64 {
	i := slices.IndexFunc(s.Attributes, func(a *commonpb.KeyValue) bool { return a.Key == key })
	if i < 0 {
		return -1
	}
	return s.Attributes[i].Value.GetDoubleValue() + float64(s.Attributes[i].Value.GetIntValue())
}

const traced = "4bf92f3577b34da6a3ce929d0e0e4736"

func parent(span string) string { return "00-" + traced + "-" + span + "-01" }

// TestTraces checks that each inference is a span of the client's trace, and that other requests are not
// spans.
func TestTraces(t *testing.T) {
	c := &collector{spans: map[string]*tracepb.Span{}}
	to := httptest.NewServer(c)
	defer to.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	t.Run("serve", func(t *testing.T) { // the server sends the last spans when it ends
		s := start(t, on("ref", write(t, newModel(t, 1), "m.bnm")))
		x := pictures(rand.New(rand.NewPCG(1, 1)), 3)
		ask(t, s, "POST", "/v2/models/m/infer", jsonRequest(x), "traceparent", parent("00000000000000a1"))
		ask(t, s, "POST", "/v2/models/nobody/infer", jsonRequest(x), "traceparent", parent("00000000000000a2"))
		ask(t, s, "GET", "/v2/models/m", nil, "traceparent", parent("00000000000000a3"))
		ask(t, s, "POST", "/v2/models/m/versions/1/infer", jsonRequest(x), "traceparent", "00-nonsense")
		ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", parent("00000000000000a4"))
		if _, err := pb.NewGRPCInferenceServiceClient(dial(t, s)).ModelInfer(ctx, inMessage(x, true)); err != nil {
			t.Fatal(err)
		}
	})
	if c.of["service.name"] != "bnctl" || c.of["deployment.environment.name"] != "test" {
		t.Errorf("the spans are of %v", c.of)
	}
	for _, want := range []struct {
		parent, name string
		rows         float64
	}{
		{"00000000000000a1", "POST /v2/models/{name}/infer", 3},
		{"00000000000000a2", "POST /v2/models/{name}/infer", -1},
		{"", "POST /v2/models/{name}/versions/{version}/infer", 3},
		{"00000000000000a4", "inference.GRPCInferenceService/ModelInfer", 3},
	} {
		s := c.spans[want.parent]
		if s == nil || s.Name != want.name || told(s, "bnctl.rows") != want.rows {
			t.Errorf("of parent %q: %v, want %s of %v rows", want.parent, s, want.name, want.rows)
			continue
		}
		if in := hex.EncodeToString(s.TraceId); (in == traced) != (want.parent != "") {
			t.Errorf("%s is in trace %s", s.Name, in)
		}
		took := time.Duration(s.EndTimeUnixNano - s.StartTimeUnixNano).Seconds()
		sum := told(s, "bnctl.queue_seconds") + told(s, "bnctl.device_seconds") + told(s, "bnctl.encode_seconds")
		if want.rows > 0 && (sum <= 0 || sum > took) {
			t.Errorf("%s took %v s, its parts %v s", s.Name, took, sum)
		}
	}
	if len(c.spans) != 4 {
		t.Errorf("%d spans, want 4: %v", len(c.spans), c.spans)
	}
}

// TestNoTraces checks that tracing is disabled without an endpoint.
func TestNoTraces(t *testing.T) {
	if s := start(t, on("ref", write(t, newModel(t, 1), "m.bnm"))); s.traces != nil {
		t.Error("there is a tracer")
	}
}
