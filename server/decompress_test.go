package server

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// compressed returns b in every encoding that a body may have. The encodings store the bytes without
// compression, so that only the checksum can detect a changed byte.
func compressed(t *testing.T, b []byte) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for name, open := range map[string]func(io.Writer) (io.WriteCloser, error){
		"gzip":    func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, gzip.NoCompression) },
		"deflate": func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriterLevel(w, zlib.NoCompression) },
	} {
		var packed bytes.Buffer
		w, err := open(&packed)
		if err == nil {
			_, err = w.Write(b)
		}
		if err != nil || w.Close() != nil {
			t.Fatal(name, err)
		}
		out[name] = packed.Bytes()
	}
	return out
}

// TestTrailerOfBodies checks that a compressed body is accepted only if the checksum and length at its end
// are complete and right, and if nothing follows.
func TestTrailerOfBodies(t *testing.T) {
	s := start(t, on("ref", write(t, newModel(t, 1), "m.bnm")))
	x := pictures(rand.New(rand.NewPCG(1, 1)), 1)
	want := ask(t, s, "POST", "/v2/models/m/infer", x.Bytes, jsonLength, "0")
	for encoding, whole := range compressed(t, x.Bytes) {
		infer := func(body []byte) reply {
			return ask(t, s, "POST", "/v2/models/m/infer", body, jsonLength, "0", "Content-Encoding", encoding)
		}
		if r := infer(whole); r.status != 200 || !bytes.Equal(r.body, want.body) {
			t.Fatalf("%s: %d %s", encoding, r.status, r.body)
		}
		bad := map[string][]byte{"nothing": nil, "with a byte after it": append(bytes.Clone(whole), 0),
			"with text after it": append(bytes.Clone(whole), "more"...)}
		for cut := 1; cut <= 12; cut++ {
			bad[fmt.Sprintf("without its last %d bytes", cut)] = whole[:len(whole)-cut]
		}
		for _, at := range []int{-1, -2, -3, -4, -300, -500} {
			changed := bytes.Clone(whole)
			changed[len(changed)+at] ^= 0xff
			bad[fmt.Sprintf("byte %d changed", at)] = changed
		}
		for what, body := range bad {
			if r := infer(body); r.status != 400 {
				t.Errorf("%s %s: %d, want 400", encoding, what, r.status)
			}
		}
	}
}

// TestChunkedBodyCutOff checks that a chunked body without its last chunk is treated as cut off. The client
// closes its side of the connection, so the status may also be 499, for a client that has disconnected.
func TestChunkedBodyCutOff(t *testing.T) {
	s := start(t, on("ref", write(t, newModel(t, 1), "m.bnm")))
	x := pictures(rand.New(rand.NewPCG(1, 1)), 1)
	for _, c := range []struct {
		end string
		ok  bool
	}{{"0\r\n\r\n", true}, {"", false}, {"0\r\n", false}, {"5\r\nab", false}} {
		conn, err := net.Dial("tcp", s.HTTP())
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		fmt.Fprintf(conn, "POST /v2/models/m/infer HTTP/1.1\r\nHost: localhost\r\n%s: 0\r\n"+
			"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n%s", jsonLength, len(x.Bytes), x.Bytes, c.end)
		if !c.ok {
			err = conn.(*net.TCPConn).CloseWrite()
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || (r.StatusCode == 200) != c.ok {
			t.Errorf("a body that ends with %q: %+v, %v", c.end, r, err)
		}
		conn.Close()
	}
}

// TestTrailerOfMessages checks that a compressed message of gRPC is accepted only if it is
// whole and has the length in its prefix.
func TestTrailerOfMessages(t *testing.T) {
	s := start(t, on("ref", write(t, newModel(t, 1), "m.bnm")))
	message := bytes.Repeat([]byte("message "), 100)
	whole := compressed(t, message)["gzip"]
	read := func(packed []byte, declared int) ([]byte, error) {
		body := binary.BigEndian.AppendUint32([]byte{1}, uint32(declared))
		r := httptest.NewRequest("POST", "/", bytes.NewReader(append(body, packed...)))
		r.Header.Set("Grpc-Encoding", "gzip")
		rec := &record{}
		rec.reservation.memoryBudget = &s.budget
		k := &call{ctx: t.Context(), s: s, r: r, controller: http.NewResponseController(httptest.NewRecorder()),
			reservation: &rec.reservation, maxMessage: 1 << 20}
		err := k.read()
		return k.body, err
	}
	if b, err := read(whole, len(whole)); err != nil || !bytes.Equal(b, message) {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	for cut := range len(whole) {
		if _, err := read(whole[:cut], cut); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%d of %d bytes: %v", cut, len(whole), err)
		}
	}
	if _, err := read(whole, len(whole)+1); err == nil {
		t.Error("a message that is shorter than its prefix says is accepted")
	}
	if _, err := read(append(bytes.Clone(whole), 'x'), len(whole)+1); err == nil {
		t.Error("bytes after the compressed data are accepted")
	}
}
