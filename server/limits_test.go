package server

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bnctl/bnctl/server/internal/batching"
	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
	"github.com/bnctl/bnctl/tensor"
)

// packed returns b compressed with gzip.
func packed(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestRoom checks that bodies may be compressed. A body is refused if it is too large after decompression, or
// does not fit into the memory budget. All memory must be released afterwards.
func TestRoom(t *testing.T) {
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.Request, o.InFlight = 1<<20, 2<<20
	s := start(t, o)
	x := pictures(rand.New(rand.NewPCG(1, 1)), 2)
	infer := func(body []byte, headers ...string) reply {
		return ask(t, s, "POST", "/v2/models/m/infer", body, headers...)
	}
	plain := infer(x.Bytes, jsonLength, "0")
	for range 3 {
		r := infer(packed(t, x.Bytes), jsonLength, "0", "Content-Encoding", "gzip")
		if r.status != 200 || !bytes.Equal(r.body, plain.body) {
			t.Errorf("packed: %d %s", r.status, r.body)
		}
	}
	for _, c := range []struct {
		want    int
		body    []byte
		headers []string
	}{
		{413, packed(t, make([]byte, 64<<20)), []string{jsonLength, "0", "Content-Encoding", "gzip"}}, // zip bomb
		{413, bytes.Repeat([]byte(" "), 900<<10), nil},                                                // times 3, as JSON
		{400, x.Bytes, []string{"Content-Encoding", "gzip"}},
		{415, x.Bytes, []string{"Content-Encoding", "br"}},
	} {
		if r := infer(c.body, c.headers...); r.status != c.want {
			t.Errorf("%v: %d %s, want %d", c.headers, r.status, r.body, c.want)
		}
	}
	client := pb.NewGRPCInferenceServiceClient(dial(t, s))
	huge, large := tensor.New(tensor.U8, 2000, 28, 28, 1), tensor.New(tensor.U8, 600, 28, 28, 1)
	for _, c := range []struct {
		x    tensor.Tensor
		raw  bool
		want codes.Code
	}{
		{x, true, codes.OK},
		{x, false, codes.OK},
		{huge, true, codes.ResourceExhausted},   // too large after decompression
		{large, false, codes.ResourceExhausted}, // as numbers it needs 6 times its size in memory
	} {
		_, err := client.ModelInfer(t.Context(), inMessage(c.x, c.raw), grpc.UseCompressor("gzip"))
		if status.Code(err) != c.want {
			t.Errorf("%v over gRPC, raw %v: %v, want %v", c.x.Shape, c.raw, err, c.want)
		}
	}
	until(t, "the end of all calls", func() bool { return s.active.Load() == 0 })
	if n := s.budget.requestBytes(); n != 0 {
		t.Errorf("%d bytes are taken though nothing is under way", n)
	}
}

// garbled returns a request with errors in its request line, its headers, its JSON or the bytes that follow
// the JSON.
func garbled(draw *rand.Rand, body []byte, jsonBytes int) string {
	b := bytes.Clone(body)
	for range 1 + draw.IntN(4) {
		b[draw.IntN(jsonBytes)] = byte(draw.Uint32())
	}
	head := fmt.Sprintf("POST /v2/models/m/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s: %d\r\n\r\n",
		len(b), jsonLength, jsonBytes)
	switch draw.IntN(6) {
	case 0: // smuggling: two lengths, or a length and chunks
		head = strings.Replace(head, "Host:", "Transfer-Encoding: chunked\r\nContent-Length: 3\r\nHost:", 1)
	case 1:
		head = strings.Replace(head, "HTTP/1.1", []string{"HTTP/9", "", "HTTP/1.0\x00"}[draw.IntN(3)], 1)
	case 2:
		paths := []string{"/v2/models/../../etc/passwd", "/v2/models/%2e%2e/infer", "/v2/models/m%00/infer", "//", "*"}
		head = strings.Replace(head, "/v2/models/m/infer", paths[draw.IntN(len(paths))], 1)
	case 3:
		b = b[:draw.IntN(len(b))]
	case 4:
		i := draw.IntN(len(head))
		head = head[:i] + string(rune(draw.IntN(256))) + head[i:]
	}
	return head + string(b)
}

// send sends text as the bytes of a request, and reads the response if there is one.
func send(t *testing.T, s *Server, text string) {
	t.Helper()
	c, err := net.Dial("tcp", s.HTTP())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, text)
	_ = c.(*net.TCPConn).CloseWrite()
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		if e, ok := err.(net.Error); ok && e.Timeout() {
			t.Errorf("%.200q: no answer", text)
		}
		return
	}
	r.Body.Close()
	if r.StatusCode >= 500 && r.StatusCode != 501 && r.StatusCode != 505 {
		t.Errorf("%.200q: %s", text, r.Status)
	}
}

// TestQueueIsFull checks that a full queue refuses further requests at once, and that the requests in the
// queue are answered.
func TestQueueIsFull(t *testing.T) {
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.Queue, o.Predict.Batch, o.Delay = 2, 1, 0
	s := start(t, o)
	x := pictures(rand.New(rand.NewPCG(1, 1)), 2)
	var all sync.WaitGroup
	var mu sync.Mutex
	counts := map[int]int{}
	for range 40 {
		all.Go(func() {
			r := ask(t, s, "POST", "/v2/models/m/infer", x.Bytes, jsonLength, "0")
			mu.Lock()
			defer mu.Unlock()
			if counts[r.status]++; r.status == 429 && (r.header.Get("Retry-After") == "" ||
				!bytes.HasPrefix(r.body, []byte(`{"error":"`))) {
				t.Errorf("429 %v %s", r.header, r.body)
			}
		})
	}
	all.Wait()
	if counts[200] == 0 || counts[429] == 0 || counts[200]+counts[429] != 40 {
		t.Errorf("%v", counts)
	}
}

// TestRefusedBeforeTheBody checks that a request is refused before its body arrives if the queue
// is full, so that the body uses no memory.
func TestRefusedBeforeTheBody(t *testing.T) {
	s := start(t, on("ref", write(t, newModel(t, 1), "m.bnm")))
	m, x := s.allVersions()[0], pictures(rand.New(rand.NewPCG(1, 1)), 1)
	stuck, release := m.queue, make(chan struct{})
	in := m.model.Input()
	m.queue = batching.New(in.DType, in.Shape, batching.Options{MaxBatch: 1, MaxQueue: 1},
		func(tensor.Tensor) ([]tensor.Tensor, error) { <-release; return nil, errors.New("lost") })
	var all sync.WaitGroup
	for _, waiting := range []int{0, 1} { // the first row is computed, the second waits
		all.Go(func() { ask(t, s, "POST", "/v2/models/m/infer", x.Bytes, jsonLength, "0") })
		until(t, "the request", func() bool {
			return s.active.Load() == int64(waiting+1) && m.queue.Waiting() == waiting
		})
	}
	c, err := net.Dial("tcp", s.HTTP())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "POST /v2/models/m/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 784\r\n\r\n")
	until(t, "the refusal", func() bool {
		return bytes.Contains(ask(t, s, "GET", "/metrics", nil).body, []byte(`code="429"`))
	})
	least := int64(2 * len(x.Bytes)) // without the headers and answers of these requests
	if n := s.budget.requestBytes(); n < least || n > least+3<<10 {
		t.Errorf("%d bytes are taken", n)
	}
	_, _ = c.Write(x.Bytes)
	if r, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || r.StatusCode != 429 {
		t.Errorf("%v, %v", r, err)
	}
	close(release)
	all.Wait()
	m.queue.Close()
	m.queue = stuck
}

// TestPatience checks that the server stops waiting for a body that does not arrive, and frees its memory. It
// must not cut off a slow answer, and a connection may be used again much later.
func TestPatience(t *testing.T) {
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.patience, o.Delay = 100*time.Millisecond, 300*time.Millisecond
	s := start(t, o)
	for model, want := range map[string]int{"m": 400, "none": 404} {
		c, err := net.Dial("tcp", s.HTTP())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		fmt.Fprintf(c, "POST /v2/models/%s/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{", model)
		r, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || r.StatusCode != want {
			t.Errorf("%s: %v, %v", model, r, err)
		}
	}
	if n := s.budget.requestBytes(); n != 0 {
		t.Errorf("%d bytes are taken", n)
	}
	x := pictures(rand.New(rand.NewPCG(1, 1)), 1)
	for range 2 {
		if r := ask(t, s, "POST", "/v2/models/m/infer", x.Bytes, jsonLength, "0"); r.status != 200 {
			t.Errorf("after a long wait: %d %s", r.status, r.body)
		}
		time.Sleep(2 * o.patience)
		if r := ask(t, s, "GET", "/v2/models/m", nil); r.status != 200 {
			t.Errorf("much later: %d", r.status)
		}
	}
}

// TestTooLargeIsNotBusy checks that a request larger than the whole budget gets another error than a request
// that does not fit now and may be sent again.
func TestTooLargeIsNotBusy(t *testing.T) {
	r := &memoryBudget{limit: 10 << 20}
	first, second := reservation{memoryBudget: r}, reservation{memoryBudget: r}
	for i, c := range []struct {
		l    *reservation
		n    int64
		want string
	}{
		{&first, 11 << 20, "the request needs 11 MiB of memory or more; all requests together may use 10 MiB"},
		{&first, 6 << 20, "<nil>"},
		{&second, 5 << 20, "requests under way use all of 10 MiB; try again"},
		{&first, 5 << 20, "the request needs 11 MiB of memory or more; all requests together may use 10 MiB"},
		{&second, 4 << 20, "<nil>"},
	} {
		if got := fmt.Sprint(c.l.grow(c.n)); got != c.want {
			t.Errorf("%d: %s, want %s", i, got, c.want)
		}
	}
	if r.trimmable() {
		t.Error("little was taken")
	}
	if r.limit = 100 << 20; first.grow(90<<20) != nil || r.trimmable() {
		t.Error("much is taken")
	}
	first.release()
	if !r.trimmable() || r.trimmable() {
		t.Error("it ebbs once")
	}
	if second.release(); r.used.Load() != 0 {
		t.Errorf("%d bytes are taken", r.used.Load())
	}
}
