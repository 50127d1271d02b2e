package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/server/internal/batching"
	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
	"github.com/bnctl/bnctl/tensor"
)

// BenchmarkFront measures the cost of a request without its device: the server and a simple client. It
// replaces the device by one that does nothing, and by one that evicts the server's data from all caches. The
// figures p10 and p50 do not include the device's time.
func BenchmarkFront(b *testing.B) {
	for _, name := range []string{"resnet20", "mobilenetv2"} {
		m := measure(b, name, 8)
		s, err := m.s.find("m", "")
		if err != nil {
			b.Fatal(err)
		}
		in, out := m.direct.Model.Input(), tensor.New(tensor.F32, 8, s.outputs[0].Shape[1])
		idle := batching.New(in.DType, in.Shape, batching.Options{MaxBatch: 8, MaxQueue: 64},
			func(x tensor.Tensor) ([]tensor.Tensor, error) {
				began := time.Now()
				for i := 0; i < len(swept); i += 64 {
					swept[i]++
				}
				sweeping += time.Since(began)
				return []tensor.Tensor{out.Rows(0, x.Shape[0])}, nil
			})
		s.queue, idle = idle, s.queue
		x := m.rows(1)
		for caches, bytes := range map[string]int{"warm": 0, "cold": 64 << 20} {
			swept = make([]byte, bytes)
			b.Run(name+"/http/"+caches, func(b *testing.B) { frontHTTP(b, m, x) })
			b.Run(name+"/grpc/"+caches, func(b *testing.B) { frontGRPC(b, m, x) })
		}
		s.queue.Close()
		s.queue = idle
	}
}

var (
	swept    []byte        // memory that the device writes to evict other data; empty: the device does nothing
	sweeping time.Duration // total time of these writes
)

func frontHTTP(b *testing.B, m measured, x tensor.Tensor) {
	c, err := net.Dial("tcp", m.s.HTTP())
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	request := append(fmt.Appendf(nil, "POST /v2/models/m/infer HTTP/1.1\r\nHost: localhost\r\n%s: 0\r\n"+
		"Content-Length: %d\r\n\r\n", jsonLength, len(x.Bytes)), x.Bytes...)
	from := bufio.NewReader(c)
	times(b, func() {
		_, _ = c.Write(request)
		r, err := http.ReadResponse(from, nil)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, r.Body)
	})
}

func frontGRPC(b *testing.B, m measured, x tensor.Tensor) {
	conn := dial(b, m.s)
	call := inMessage(x, true)
	call.Inputs[0].Shape = toInt64s(x.Shape)
	request, err := proto.Marshal(call)
	if err != nil {
		b.Fatal(err)
	}
	times(b, func() {
		var answer []byte
		if err := conn.Invoke(b.Context(), pb.GRPCInferenceService_ModelInfer_FullMethodName, request, &answer,
			grpc.ForceCodecV2(unparsed{})); err != nil {
			b.Fatal(err)
		}
	})
}

// times calls ask repeatedly, and reports how long the calls take, without the device's time.
func times(b *testing.B, ask func()) {
	b.ReportAllocs()
	var took []float64
	for b.Loop() {
		sweeping = 0
		began := time.Now()
		ask()
		took = append(took, float64((time.Since(began)-sweeping).Nanoseconds())/1000)
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/10], "us-p10")
	b.ReportMetric(took[len(took)/2], "us-p50")
}

// unparsed is a codec that does not decode messages.
type unparsed struct{}

func (unparsed) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (unparsed) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

func (unparsed) Name() string { return "proto" }
