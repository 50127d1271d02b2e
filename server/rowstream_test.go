package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// rowClient is the client's side of a stream of rows.
type rowClient struct {
	*keptOpen
	head []byte // the JSON of the last answer
}

// streamRows opens a stream of rows for the model m.
func streamRows(t *testing.T, s *Server) *rowClient {
	t.Helper()
	k := &rowClient{keptOpen: keepOpen(t, s)}
	if status := k.upgrade("m"); status != http.StatusSwitchingProtocols {
		t.Fatalf("status %d", status)
	}
	return k
}

// upgrade requests a stream, and returns the status of the response.
func (k *rowClient) upgrade(model string) int {
	fmt.Fprintf(k, "GET /v2/models/%s/predict HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n",
		model, rowsProtocol)
	r, err := http.ReadResponse(k.r, nil)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, max(0, r.ContentLength)))
	return r.StatusCode
}

// send sends a request. body begins with head bytes of JSON.
func (k *rowClient) send(head int, body []byte) error {
	m := binary.LittleEndian.AppendUint64(nil, uint64(head))
	m = binary.LittleEndian.AppendUint64(m, uint64(len(body)))
	_, err := k.Write(append(m, body...))
	return err
}

// receive returns the status of an answer, its JSON (that of the previous answer if it has none), and its
// elements.
func (k *rowClient) receive() (status int, head, elements []byte, err error) {
	prefix := make([]byte, rowsPrefixBytes)
	if _, err := io.ReadFull(k.r, prefix); err != nil {
		return 0, nil, nil, err
	}
	n := binary.LittleEndian.Uint32(prefix)
	body := make([]byte, binary.LittleEndian.Uint64(prefix[8:]))
	_, err = io.ReadFull(k.r, body)
	if n > 0 {
		k.head = body[:n]
	}
	return int(binary.LittleEndian.Uint32(prefix[4:])), k.head, body[n:], err
}

// ask sends a request and receives its answer.
func (k *rowClient) ask(t *testing.T, head int, body []byte) (status int, json, elements []byte) {
	t.Helper()
	err := k.send(head, body)
	if err == nil {
		status, json, elements, err = k.receive()
	}
	if err != nil {
		t.Fatal(err)
	}
	return status, json, elements
}

// TestRowStreamIsPredict compares the answers of a stream with the answers of predictHTTP, for rows and for a
// request with JSON. Answers must not repeat JSON that is equal to the JSON of the previous answer.
func TestRowStreamIsPredict(t *testing.T) {
	s := start(t, on("ref", write(t, newModel(t, 1), "m.bnm")))
	k := streamRows(t, s)
	draw := rand.New(rand.NewPCG(9, 9))
	before := 0
	for i, n := range []int{1, 1, 3, 3, 9, 1, 2, 2} { // batches have at most 4 rows
		x := pictures(draw, n)
		body, size := x.Bytes, 0
		if i%3 == 1 {
			body, size = binaryRequest(x)
		}
		want := ask(t, s, "POST", "/v2/models/m/predict", body, jsonLength, strconv.Itoa(size))
		split, _ := strconv.Atoi(want.header.Get(jsonLength))
		k.head = append(k.head[:0:0], k.head...)
		old := k.head
		status, head, elements := k.ask(t, size, body)
		if status != 200 || !bytes.Equal(head, want.body[:split]) || !bytes.Equal(elements, want.body[split:]) {
			t.Errorf("%d rows: %d %s, %d bytes; want %s, %d bytes", n, status, head, len(elements), want.body[:split],
				len(want.body)-split)
		}
		if again := bytes.Equal(head, old); again != (n == before) {
			t.Errorf("%d rows after %d: the same JSON %v", n, before, again)
		}
		before = n
	}
	counted := []byte(`bnctl_requests_total{code="200",model="m",protocol="http",version="1"} 16`)
	until(t, string(counted), func() bool { // the server counts a request after it has sent the answer
		return bytes.Contains(ask(t, s, "GET", "/metrics", nil).body, counted)
	})
}

// TestRowStreamRefuses checks that a refused request is answered with an error, and that the stream can be
// used afterwards. A request that is longer than the server accepts ends the stream.
func TestRowStreamRefuses(t *testing.T) {
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.Request = 1 << 20
	s := start(t, o)
	k := streamRows(t, s)
	x := pictures(rand.New(rand.NewPCG(1, 1)), 1).Bytes
	refused := func(status int, head []byte) string {
		var e struct{ Error string }
		if err := json.Unmarshal(head, &e); err != nil || e.Error == "" {
			t.Errorf("%d %q: %v", status, head, err)
		}
		return e.Error
	}
	for _, c := range []struct {
		head int
		body []byte
		want string
	}{{0, x[1:], "bytes"}, {0, nil, "bytes"}, {5, []byte("{nope"), "JSON"}, {3, []byte(`{}`), "more than"}} {
		status, head, elements := k.ask(t, c.head, c.body)
		why := refused(status, head)
		if status < 400 || status > 499 || len(elements) > 0 || !strings.Contains(why, c.want) {
			t.Errorf("head %d, %d bytes: %d %s, want %s", c.head, len(c.body), status, why, c.want)
		}
		if status, head, elements := k.ask(t, 0, x); status != 200 || len(elements) == 0 || !bytes.Contains(head,
			[]byte(`"outputs"`)) {
			t.Fatalf("after it: %d %s", status, head)
		}
	}
	if err := k.send(0, make([]byte, 1<<20+1)); err == nil {
		status, head, _, err := k.receive()
		if err == nil && (status != 413 || !strings.Contains(refused(status, head), "1048576")) {
			t.Errorf("%d %s", status, head)
		}
		if _, _, _, err := k.receive(); err == nil {
			t.Error("the stream goes on")
		}
	}
	until(t, "no memory of requests", func() bool { return s.budget.requestBytes() == 0 })
	for model, want := range map[string]int{"n": 404, "m": 101} {
		k := &rowClient{keptOpen: keepOpen(t, s)}
		if status := k.upgrade(model); status != want {
			t.Errorf("%s: %d, want %d", model, status, want)
		}
	}
	r := ask(t, s, "GET", "/v2/models/m/predict", []byte("a body"), "Connection", "Upgrade", "Upgrade", rowsProtocol)
	if r.status != 400 {
		t.Errorf("with a body: %d %s", r.status, r.body)
	}
}

// TestRowStreamOfCutRequests tests a client that breaks off a request, and a client that sends a request
// before the HTTP response that begins the stream. Only the stream must end, not the server.
func TestRowStreamOfCutRequests(t *testing.T) {
	s := start(t, on("ref", write(t, newModel(t, 1), "m.bnm")))
	x := pictures(rand.New(rand.NewPCG(1, 1)), 1).Bytes
	for cut := 0; cut < rowsPrefixBytes+len(x); cut += 97 {
		k := streamRows(t, s)
		m := binary.LittleEndian.AppendUint64(make([]byte, 8), uint64(len(x)))
		if _, err := k.Write(append(m, x...)[:cut]); err != nil {
			t.Fatal(err)
		}
		k.Close()
	}
	k := &rowClient{keptOpen: keepOpen(t, s)}
	fmt.Fprintf(k, "GET /v2/models/m/predict HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n%s",
		rowsProtocol, strings.Repeat("x", 40))
	if _, err := io.Copy(io.Discard, k.r); err != nil {
		t.Errorf("a request too early: %v", err)
	}
	until(t, "no stream", func() bool { return s.active.Load() == 0 && s.budget.requestBytes() == 0 })
	if status, _, _ := streamRows(t, s).ask(t, 0, x); status != 200 {
		t.Errorf("status %d", status)
	}
}

// TestRowStreamOfLengthsThatCannotBe checks that a request with impossible lengths is refused and ends the
// stream, because the server cannot know where the next request begins.
func TestRowStreamOfLengthsThatCannotBe(t *testing.T) {
	s := start(t, on("ref", write(t, newModel(t, 1), "m.bnm")))
	for _, length := range []uint64{1 << 50, 1 << 63, math.MaxUint64} {
		k := streamRows(t, s)
		if _, err := k.Write(binary.LittleEndian.AppendUint64(make([]byte, 8), length)); err != nil {
			t.Fatal(err)
		}
		if status, json, _, err := k.receive(); err != nil || status != http.StatusRequestEntityTooLarge {
			t.Errorf("%d: %d %s %v", length, status, json, err)
		}
		if _, err := k.r.ReadByte(); err != io.EOF {
			t.Errorf("%d: the stream goes on: %v", length, err)
		}
	}
}

// TestRowStreamNeedsTheToken checks that the request that begins a stream needs a token, like other requests
// of HTTP.
func TestRowStreamNeedsTheToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte(strings.Repeat("t", 40)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.Security.Tokens = file
	s := start(t, o)
	for _, c := range []struct {
		headers string
		want    int
	}{{"Host: localhost", 401}, {"Host: localhost\r\nAuthorization: Bearer " + strings.Repeat("t", 40), 101},
		{"Host: evil.example\r\nAuthorization: Bearer " + strings.Repeat("t", 40), 403},
		{"Host: localhost\r\nOrigin: http://evil.example", 403}} {
		k := keepOpen(t, s)
		fmt.Fprintf(k, "GET /v2/models/m/predict HTTP/1.1\r\n%s\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", c.headers,
			rowsProtocol)
		r, err := http.ReadResponse(k.r, nil)
		if err != nil || r.StatusCode != c.want {
			t.Errorf("%s: %v %v, want %d", c.headers, r, err, c.want)
		}
	}
}

// TestRowStreamOfAnotherVersion checks that, after the model's file is replaced, the new version answers the
// next rows of a stream. The first answer of the new version has JSON.
func TestRowStreamOfAnotherVersion(t *testing.T) {
	folder := t.TempDir()
	write(t, newModel(t, 1), folder+"/m.bnm")
	s, x := start(t, inFolder(folder)), pictures(rand.New(rand.NewPCG(1, 1)), 1).Bytes
	k := streamRows(t, s)
	k.ask(t, 0, x)
	old := s.Models()[0].SHA256
	next, err := os.ReadFile(write(t, newModel(t, 2), "other.bnm"))
	if err != nil {
		t.Fatal(err)
	}
	replace(t, folder+"/m.bnm", next)
	until(t, "the new file", func() bool { return s.Models()[0].SHA256 != old })
	if status, head, _ := k.ask(t, 0, x); status != 200 || !bytes.Contains(head, []byte(s.Models()[0].SHA256)) {
		t.Errorf("%d %s", status, head)
	}
}

// TestRowStreamEndsWithTheServer checks that accepted rows are answered when the server ends, and that an
// idle stream does not keep the server from ending.
func TestRowStreamEndsWithTheServer(t *testing.T) {
	o := on("ref", write(t, newModel(t, 1), "m.bnm"))
	o.Delay = 200 * time.Millisecond
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	x := pictures(rand.New(rand.NewPCG(1, 1)), 1).Bytes
	idle, busy := streamRows(t, s), streamRows(t, s)
	if err := busy.send(0, x); err != nil {
		t.Fatal(err)
	}
	until(t, "a row that waits", func() bool { return s.allVersions()[0].queue.Waiting() == 1 })
	stop()
	if status, _, elements, err := busy.receive(); status != 200 || len(elements) == 0 || err != nil {
		t.Errorf("%d, %v", status, err)
	}
	for name, k := range map[string]*rowClient{"idle": idle, "busy": busy} {
		if _, err := k.r.ReadByte(); err != io.EOF {
			t.Errorf("the %s stream: %v", name, err)
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil && !strings.Contains(err.Error(), "closed") {
		t.Error(err)
	}
}
