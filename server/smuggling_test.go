package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestSmuggling sends bytes that one reader may interpret as one request and another reader as two. The
// server must refuse them, or close the connection after the first request: it must never answer the bytes
// after it.
func TestSmuggling(t *testing.T) {
	s := start(t, on("ref", write(t, newModel(t, 1), "m.bnm")))
	const behind = "GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
	chunked := "0\r\n\r\n" + behind
	for what, rest := range map[string]string{
		"a length and chunks": fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n%s",
			len(chunked), chunked),
		"chunks and a length":        fmt.Sprintf("Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n%s", chunked),
		"two lengths":                fmt.Sprintf("Content-Length: 0\r\nContent-Length: %d\r\n\r\n%s", len(behind), behind),
		"a list of lengths":          "Content-Length: 0, 0\r\n\r\n" + behind,
		"a length with a sign":       "Content-Length: +0\r\n\r\n" + behind,
		"a length in hex":            "Content-Length: 0x0\r\n\r\n" + behind,
		"a space before the colon":   "Transfer-Encoding : chunked\r\n\r\n" + chunked,
		"an encoding that is none":   "Transfer-Encoding: xchunked\r\n\r\n" + chunked,
		"two encodings":              "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n" + chunked,
		"an encoding of HTTP/1.0":    "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunked,
		"a header that is continued": "Content-Length: 0\r\nX: y\r\n Transfer-Encoding: chunked\r\n\r\n" + chunked,
		"a bare carriage return":     "Content-Length: 0\r\nX: y\rTransfer-Encoding: chunked\r\n\r\n" + chunked,
		"a chunk with a sign":        "Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n" + behind,
		"a chunk without its end":    "Transfer-Encoding: chunked\r\n\r\n1\r\nab0\r\n\r\n" + behind,
		"two hosts":                  "Host: evil.example\r\n\r\n" + behind,
	} {
		all := answers(t, s, "POST /v2/models/m/infer HTTP/1.1\r\nHost: localhost\r\n"+rest)
		if len(all) == 0 || slices.Min(all) < 400 {
			t.Errorf("%s: %v, want refusals only", what, all)
		}
	}
	two := "GET /v2 HTTP/1.1\r\nHost: localhost\r\n\r\n" + behind
	if all := answers(t, s, two); len(all) != 2 || all[0] != 200 || all[1] != 200 {
		t.Errorf("two requests: %v", all)
	}
}

// answers sends the bytes of text on a connection, and returns the status of each answer.
func answers(t *testing.T, s *Server, text string) (all []int) {
	t.Helper()
	c, err := net.Dial("tcp", s.HTTP())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = io.Copy(c, strings.NewReader(text))
	_ = c.(*net.TCPConn).CloseWrite()
	for from := bufio.NewReader(c); ; {
		r, err := http.ReadResponse(from, nil)
		if err != nil {
			return all
		}
		_, _ = io.Copy(io.Discard, r.Body)
		r.Body.Close()
		all = append(all, r.StatusCode)
	}
}
