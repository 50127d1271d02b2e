package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// written is a gRPC call as the bytes that are sent over a connection.
type written struct {
	bytes  []byte
	frames []int // offset of each frame in the bytes
}

// write stores the frames of two calls with a message: the first call of a connection, and any later call.
// The headers of a later call are shorter, because the server has them in its table of headers.
func (g *overGRPC) write(message []byte) {
	var block bytes.Buffer
	table := hpack.NewEncoder(&block)
	for i := range g.calls {
		block.Reset()
		for _, h := range [][2]string{{":method", "POST"}, {":scheme", "http"},
			{":path", "/inference.GRPCInferenceService/ModelInfer"}, {":authority", g.address},
			{"content-type", "application/grpc"}, {"te", "trailers"}} {
			_ = table.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]})
		}
		g.calls[i] = framed(block.Bytes(), message)
	}
	g.message = 5 + len(message)
}

// framed returns the frames of a call with the given encoded headers and message.
func framed(headers, message []byte) (w written) {
	var out bytes.Buffer
	to := http2.NewFramer(&out, nil)
	_ = to.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: headers, EndHeaders: true})
	w.frames = []int{0}
	rest := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
	for len(rest) > 0 {
		w.frames = append(w.frames, out.Len())
		n := min(len(rest), 16<<10) // every server accepts frames of this size
		_ = to.WriteData(1, n == len(rest), rest[:n])
		rest = rest[n:]
	}
	w.bytes = out.Bytes()
	return w
}

// on returns the frames of the call with the given stream number in them.
func (w written) on(stream uint32) []byte {
	for _, at := range w.frames {
		binary.BigEndian.PutUint32(w.bytes[at+5:], stream)
	}
	return w.bytes
}

// stream is a connection of HTTP/2 that carries one call at a time.
type stream struct {
	net.Conn
	*http2.Framer
	calls  [2]written // frames of the first call, and of later calls
	last   uint32     // number of the last stream
	window int        // bytes of calls that the server's flow control permits now
}

func newStream(c net.Conn, calls [2]written) *stream {
	s := &stream{Conn: c, Framer: http2.NewFramer(c, bufio.NewReader(c)), calls: calls, last: 1, window: 65535}
	for i := range s.calls {
		s.calls[i].bytes = slices.Clone(calls[i].bytes)
	}
	s.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	return s
}

// greet opens the connection. Its flow control permits 2 GiB of answers in total, more than any run receives.
func (s *stream) greet() error {
	_, err := io.WriteString(s.Conn, http2.ClientPreface)
	if err == nil {
		err = s.WriteSettings()
	}
	if err == nil {
		err = s.WriteWindowUpdate(0, 1<<31-1-65535)
	}
	return err
}

// call sends the request and returns the answer. data is the number of bytes of the request that flow control
// counts.
func (s *stream) call(data int) (answer []byte, err error) {
	for s.window < data {
		if _, err := s.read(); err != nil {
			return nil, err
		}
	}
	if _, err := s.Conn.Write(s.calls[0].on(s.last)); err != nil {
		return nil, err
	}
	s.window -= data
	defer s.next()
	for {
		f, err := s.read()
		if err != nil {
			return nil, err
		}
		switch f := f.(type) {
		case *http2.DataFrame:
			answer = append(answer, f.Data()...)
		case *http2.MetaHeadersFrame:
			if f.StreamEnded() {
				return message(answer, f)
			}
		}
	}
}

// next prepares the stream for the next call.
func (s *stream) next() { s.calls[0], s.last = s.calls[1], s.last+2 }

// message returns the gRPC message in an answer, or an error if the call failed.
func message(answer []byte, end *http2.MetaHeadersFrame) ([]byte, error) {
	said := map[string]string{}
	for _, h := range end.Fields {
		said[h.Name] = h.Value
	}
	switch status := said["grpc-status"]; {
	case status == "8":
		return nil, busy
	case status != "0" || len(answer) < 5:
		return nil, fmt.Errorf("status %q: %s", status, said["grpc-message"])
	}
	return answer[5:], nil
}

// read returns the next frame that belongs to a call. It answers frames that concern the connection.
func (s *stream) read() (http2.Frame, error) {
	frame, err := s.ReadFrame()
	if err != nil {
		return nil, err
	}
	switch f := frame.(type) {
	case *http2.SettingsFrame:
		if !f.IsAck() {
			err = s.WriteSettingsAck()
		}
	case *http2.PingFrame:
		if !f.IsAck() {
			err = s.WritePing(true, f.Data)
		}
	case *http2.WindowUpdateFrame:
		if f.StreamID == 0 {
			s.window += int(f.Increment)
		}
	case *http2.RSTStreamFrame:
		if f.StreamID == s.last {
			err = fmt.Errorf("the stream is reset: %v", f.ErrCode)
		}
	case *http2.GoAwayFrame:
		err = fmt.Errorf("the server goes away: %v", f.ErrCode)
	}
	return frame, err
}
