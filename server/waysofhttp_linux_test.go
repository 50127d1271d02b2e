package server

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"image"
	"image/png"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// way is an attack: a method by which a peer makes a server hold memory.
type way struct {
	name, protocol string
	attack         func(v *victim)
}

func waysToHold() []way {
	return append([]way{
		{"headers that do not end", "HTTP", func(v *victim) {
			v.all(400, v.HTTP, "GET /v2 HTTP/1.1\r\nHost: localhost\r\n"+strings.Repeat("a:\r\n", 14_000))
		}},
		{"bodies that stop", "HTTP", func(v *victim) {
			v.all(100, v.HTTP, asks("infer", 32<<20, jsonLength+": 0\r\n")+strings.Repeat("x", 8<<20))
		}},
		{"bodies in chunks", "HTTP", func(v *victim) {
			v.all(50, v.HTTP, "POST /v2/models/m/infer HTTP/1.1\r\nHost: localhost\r\n"+jsonLength+
				": 0\r\nTransfer-Encoding: chunked\r\n\r\n1000000\r\n"+strings.Repeat("x", 16<<20))
		}},
		{"packed bodies", "HTTP", func(v *victim) {
			b := zipped(48 << 20)
			v.all(50, v.HTTP, asks("infer", len(b), "Content-Encoding: gzip\r\n"+jsonLength+": 0\r\n")+b)
		}},
		{"JSON of small objects", "HTTP", func(v *victim) {
			b := `{"inputs":[` + strings.Repeat("{},", 4<<20) + `{}]}`
			v.all(10, v.HTTP, asks("infer", len(b), "")+b)
		}},
		{"JSON of small numbers", "HTTP", func(v *victim) {
			b := `{"inputs":[{"shape":[` + strings.Repeat("0,", 6<<20) + `0]}]}`
			v.all(10, v.HTTP, asks("infer", len(b), "")+b)
		}},
		{"pictures", "HTTP", func(v *victim) {
			var b bytes.Buffer
			_ = png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 2500, 2500)))
			v.all(20, v.HTTP, asks("classify", b.Len(), "")+b.String())
		}},
		{"answers that are not read", "HTTP", func(v *victim) {
			v.all(400, v.HTTP, asks("infer", 200*784, jsonLength+": 0\r\n")+strings.Repeat("x", 200*784))
		}},
		{"answers in JSON that are not read", "HTTP", func(v *victim) {
			zeros := strings.Repeat("0,", 20*784-1) + "0"
			b := `{"inputs":[{"name":"x","datatype":"UINT8","shape":[20,28,28,1],"data":[` + zeros + `]}]}`
			v.all(200, v.HTTP, asks("infer", len(b), "")+b)
		}},
		{"many requests, no answer read", "HTTP", func(v *victim) {
			v.all(100, v.HTTP, strings.Repeat("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 3000))
		}},
		{"trailers", "HTTP", func(v *victim) {
			v.all(200, v.HTTP, "POST /v2/models/m/infer HTTP/1.1\r\nHost: localhost\r\n"+jsonLength+
				": 0\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"+strings.Repeat("a:\r\n", 50_000))
		}},
		{"idle connections", "HTTP", func(v *victim) { v.all(5000, v.HTTP, "GET /v2 HTTP/1.1\r\nHost: localhost\r\n\r\n") }},
		{"unused connections", "HTTP", func(v *victim) { v.all(5000, v.HTTP, "") }},
		{"headers that do not end", "HTTPS", func(v *victim) {
			v.all(400, v.HTTP, "GET /v2 HTTP/1.1\r\nHost: localhost\r\n"+strings.Repeat("a:\r\n", 14_000))
		}},
		{"idle connections", "HTTPS", func(v *victim) {
			v.all(1000, v.HTTP, "GET /v2 HTTP/1.1\r\nHost: localhost\r\n\r\n")
		}},
		{"unused connections", "HTTPS", func(v *victim) { v.all(1000, v.HTTP, "") }},
	}, waysOfFrames()...)
}

// asks returns the request line and the headers of a request.
func asks(what string, size int, headers string) string {
	return fmt.Sprintf("POST /v2/models/m/%s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n", what,
		headers, size)
}

// zipped returns n zeros, compressed with gzip.
func zipped(n int) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(make([]byte, n))
	_ = z.Close()
	return b.String()
}

// all sends a text on n connections. It keeps them open, and reads no answers.
func (v *victim) all(n int, address, text string) {
	v.each(n, address, func(c net.Conn) { _, _ = io.WriteString(c, text) })
}

// each opens n connections, not all at once, and calls do with each of them in parallel. All connections end
// after some seconds.
func (v *victim) each(n int, address string, do func(c net.Conn)) {
	var under sync.WaitGroup
	end := time.Now().Add(6 * time.Second)
	for i := range n {
		c := v.connect(address)
		if c == nil || time.Now().After(end) {
			break
		}
		_ = c.SetDeadline(end)
		under.Go(func() { do(c) })
		if i%200 == 199 {
			time.Sleep(20 * time.Millisecond)
		}
	}
	under.Wait()
}
