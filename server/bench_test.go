package server

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
	"github.com/bnctl/bnctl/tensor"
)

// measured is a network with new weights, served on one thread, and the same network on a separate device,
// which a predictor in this process uses.
type measured struct {
	s      *Server
	direct *predict.Predictor
	client *http.Client
	draw   *rand.Rand
}

func measure(b *testing.B, name string, batch int) measured {
	b.Helper()
	m, err := models.Build(name, models.Options{})
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		b.Fatal(err)
	}
	o := on("cpu", write(b, m, "m.bnm"))
	o.Predict.Batch, o.Queue = batch, 16*batch
	direct, err := predict.Open(b.Context(), m, o.Predict)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { direct.Close() })
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}}
	return measured{start(b, o), direct, client, rand.New(rand.NewPCG(1, 1))}
}

// rows returns n rows of input.
func (m measured) rows(n int) tensor.Tensor {
	in := m.direct.Model.Input()
	x := tensor.New(in.DType, append([]int{n}, in.Shape...)...)
	for i := range x.Bytes {
		x.Bytes[i] = byte(m.draw.Uint32())
	}
	return x
}

// post sends an inference request over HTTP, with the rows as bytes.
func (m measured) post(b *testing.B, x tensor.Tensor) {
	r, err := http.NewRequest("POST", "http://"+m.s.HTTP()+"/v2/models/m/infer", bytes.NewReader(x.Bytes))
	if err != nil {
		b.Error(err)
		return
	}
	r.Header.Set(jsonLength, "0")
	answer, err := m.client.Do(r)
	if err != nil {
		b.Error(err)
		return
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != 200 {
		b.Error(answer.Status, err)
	}
}

func (m measured) predict(b *testing.B, x tensor.Tensor) {
	if _, err := m.direct.Predict(b.Context(), x); err != nil {
		b.Error(err)
	}
}

// BenchmarkOne requests one row at a time: in turn over HTTP, over gRPC and from a predictor in the same
// process. "us-more" is the difference between the medians of a protocol and of the predictor, in
// microseconds.
func BenchmarkOne(b *testing.B) {
	for _, name := range []string{"resnet20", "mobilenetv2"} {
		b.Run(name, func(b *testing.B) {
			m := measure(b, name, 1)
			x, client := m.rows(1), pb.NewGRPCInferenceServiceClient(dial(b, m.s))
			call := inMessage(x, true)
			call.Inputs[0].Shape = toInt64s(x.Shape)
			ways := map[string]func(){
				"direct": func() { m.predict(b, x) },
				"http":   func() { m.post(b, x) },
				"grpc": func() {
					if _, err := client.ModelInfer(b.Context(), call); err != nil {
						b.Error(err)
					}
				},
			}
			took := map[string][]time.Duration{}
			for b.Loop() {
				for way, ask := range ways {
					began := time.Now()
					ask()
					took[way] = append(took[way], time.Since(began))
				}
			}
			median := func(way string) float64 {
				slices.Sort(took[way])
				return float64(took[way][len(took[way])/2].Microseconds())
			}
			b.ReportMetric(median("direct"), "us-direct")
			b.ReportMetric(median("http")-median("direct"), "us-more-http")
			b.ReportMetric(median("grpc")-median("direct"), "us-more-grpc")
		})
	}
}

// BenchmarkSaturated compares two rates in rows per second: of many clients, and of whole batches in the same
// process. They are measured alternately, for half a second each.
func BenchmarkSaturated(b *testing.B) {
	const batch, turn = 32, 500 * time.Millisecond
	for _, name := range []string{"resnet20", "mobilenetv2"} {
		b.Run(name, func(b *testing.B) {
			m := measure(b, name, batch)
			whole, one := m.rows(batch), m.rows(1)
			var ratios []float64
			for b.Loop() {
				began, n := time.Now(), 0
				for ; time.Since(began) < turn; n += batch {
					m.predict(b, whole)
				}
				direct := float64(n) / time.Since(began).Seconds()
				ratios = append(ratios, m.saturate(b, one, 3*batch, turn)/direct)
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "of-predict")
		})
	}
}

// saturate makes the given number of clients request one row repeatedly, and returns the
// rows per second.
func (m measured) saturate(b *testing.B, x tensor.Tensor, clients int, turn time.Duration) float64 {
	var all sync.WaitGroup
	var n atomic.Int64
	began := time.Now()
	for range clients {
		all.Go(func() {
			for time.Since(began) < turn {
				m.post(b, x)
				n.Add(1)
			}
		})
	}
	all.Wait()
	return float64(n.Load()) / time.Since(began).Seconds()
}
