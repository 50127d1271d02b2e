package server

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// held counts the resources that this process uses.
type held struct {
	goroutines, files int
	heap              uint64 // bytes, after a collection
}

func holds(t *testing.T) held {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return held{runtime.NumGoroutine(), len(files), m.HeapAlloc}
}

// TestMalformedAndSlow sends malformed requests, and requests that stop in the middle, over HTTP and gRPC.
// They must be answered or cut off. The next valid request must be answered, and no goroutine, open file or
// memory may be left behind.
func TestMalformedAndSlow(t *testing.T) {
	malformed, slow := 300, 20
	if os.Getenv("BNCTL_SERVE") == "full" {
		malformed, slow = 10_000, 200
	}
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.Timeout = 2 * time.Second
	s := start(t, o)
	x := pictures(rand.New(rand.NewPCG(1, 1)), 1)
	good, n := binaryRequest(x)
	ask := func() []byte {
		return ask(t, s, "POST", "/v2/models/m/infer", good, jsonLength, strconv.Itoa(n)).body
	}
	want, draw := ask(), rand.New(rand.NewPCG(2, 2))
	round := func(malformed, slow int) {
		halves := stopInTheMiddle(t, s, slow)
		c := dial(t, s)
		for i := range malformed {
			if i%4 > 0 {
				send(t, s, garbled(draw, good, n))
			} else if err := sendMessage(t, c, draw, inMessage(x, i%8 == 0)); status.Code(err) == codes.Unknown {
				t.Errorf("over gRPC: %v", err)
			}
		}
		if got := ask(); !bytes.Equal(got, want) {
			t.Errorf("after them: %s", got)
		}
		for _, h := range halves {
			h.Close()
		}
		c.Close()
		http.DefaultClient.CloseIdleConnections()
	}
	round(malformed/10, slow/10) // the first round creates the resources that are created only once
	until(t, "the end of the first", func() bool { return s.active.Load() == 0 })
	before := holds(t)
	round(malformed, slow)
	until(t, "the end of all requests", func() bool { return s.active.Load() == 0 && s.budget.requestBytes() == 0 })
	until(t, "the end of what they held", func() bool {
		now := holds(t)
		return now.goroutines <= before.goroutines+3 && now.files <= before.files+2 && now.heap < before.heap+2<<20
	})
	t.Logf("%d malformed requests, %d slow clients; before %+v, after %+v", malformed, slow, before, holds(t))
}

// stopInTheMiddle opens connections that send only a part of a request: half of the request line, of the
// headers or of the body, or only the preface of HTTP/2.
func stopInTheMiddle(t *testing.T, s *Server, n int) (all []net.Conn) {
	t.Helper()
	for i := range n {
		address, text := s.HTTP(), "POST /v2/models/m/inf"
		switch i % 4 {
		case 1:
			text = "POST /v2/models/m/infer HTTP/1.1\r\nHost: localhost\r\nContent-Le"
		case 2:
			text = "POST /v2/models/m/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n{"
		case 3:
			address, text = s.GRPC(), "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
		}
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, text)
		all = append(all, c)
	}
	return all
}

// sendMessage sends a message with wrong bytes.
func sendMessage(t *testing.T, c *grpc.ClientConn, draw *rand.Rand, m proto.Message) error {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for range 1 + draw.IntN(8) {
		b[draw.IntN(min(len(b), 60))] = byte(draw.Uint32())
	}
	if draw.IntN(3) == 0 {
		b = b[:draw.IntN(len(b))]
	}
	return c.Invoke(t.Context(), "/inference.GRPCInferenceService/ModelInfer", b, nil, grpc.ForceCodecV2(asItIs{}))
}
