package server

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/server/internal/protocol"
)

// call is a gRPC call, unary or streaming. It implements grpc.ServerStream.
type call struct {
	ctx         context.Context
	s           *Server
	w           http.ResponseWriter
	r           *http.Request
	controller  *http.ResponseController
	reservation *reservation
	maxMessage  int64  // the largest message, in bytes
	body        []byte // the last message
	reserved    int64  // bytes of the reservation for the last message
	streaming   bool   // a streaming call
}

// prefixBytes is the length of the prefix of a message: a compression flag, and the length of the message.
const prefixBytes = 5

// Context implements grpc.ServerStream, as the methods below do.
func (k *call) Context() context.Context { return k.ctx }

func (k *call) SetHeader(metadata.MD) error { return nil }

func (k *call) SendHeader(metadata.MD) error { return nil }

func (k *call) SetTrailer(metadata.MD) {}

// RecvMsg reads a message. It releases the memory of the previous one.
func (k *call) RecvMsg(m any) error {
	k.reservation.shrink(k.reserved)
	before := k.reservation.bytes
	err := k.read()
	if err == nil {
		err = k.unmarshal(m.(proto.Message))
	}
	k.reserved = k.reservation.bytes - before
	return err
}

// recvUnary reads the message of a unary call. It does not read further messages.
func (k *call) recvUnary(m any) error {
	err := k.RecvMsg(m)
	if errors.Is(err, io.EOF) {
		err = invalid("the call has no message")
	}
	_ = k.r.Body.Close()
	return err
}

// read reads a message and decompresses it. It reserves the memory first. The error is io.EOF if the
// client has sent no further message.
func (k *call) read() error {
	var prefix [prefixBytes]byte
	k.setReadDeadline(0)
	if _, err := io.ReadFull(k.r.Body, prefix[:]); err != nil {
		return k.unreadable(err)
	}
	size := int64(binary.BigEndian.Uint32(prefix[1:]))
	if size > k.maxMessage {
		return tooLarge(k.maxMessage)
	}
	k.setReadDeadline(size)
	var err error
	if prefix[0] == 0 {
		if err = k.reservation.grow(size); err == nil {
			k.body = newBuffer(int(size))
			_, err = io.ReadFull(k.r.Body, k.body)
		}
	} else {
		err = k.decompress(&io.LimitedReader{R: k.r.Body, N: size})
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return k.unreadable(err)
}

// setReadDeadline allows the client the time to send the message of a unary call that its size needs.
func (k *call) setReadDeadline(size int64) {
	until := k.s.deadline(size)
	if end, ok := k.ctx.Deadline(); ok && end.Before(until) {
		until = end
	}
	if !k.streaming {
		_ = k.controller.SetReadDeadline(until)
	}
}

// decompress reads a compressed message. The compressed data must end where src ends.
func (k *call) decompress(src *io.LimitedReader) error {
	if how := k.r.Header.Get("Grpc-Encoding"); how != "gzip" {
		return protocol.Refuse(protocol.Unimplemented, "messages are not taken in the encoding %.40q", how)
	}
	if err := k.reservation.grow(decompressorBytes); err != nil {
		return err
	}
	z, err := newDecompressor("gzip", src)
	if err == nil {
		k.body, err = readChunks(z, k.maxMessage, k.reservation, 1)
	}
	if err == nil && src.N > 0 {
		err = io.ErrUnexpectedEOF
	}
	k.reservation.shrink(decompressorBytes)
	return err
}

// unreadable returns the error for a message that cannot be read.
func (k *call) unreadable(err error) error {
	var r *protocol.Refusal
	switch {
	case err == nil, err == io.EOF, errors.As(err, &r):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return protocol.Refuse(protocol.DeadlineExceeded, "the message did not come in time")
	case k.r.Context().Err() != nil:
		return protocol.Refuse(protocol.Canceled, "the client gave up")
	}
	return invalid("the message breaks off: %v", err)
}

// unmarshal parses the message in k.body. Memory is reserved for the result.
func (k *call) unmarshal(m proto.Message) error {
	if err := k.reservation.grow(decodedBytes(k.body, m.ProtoReflect().Descriptor())); err != nil {
		return err
	}
	if err := unmarshal(k.body, m); err != nil {
		return invalid("the message is not of type %s: %v", m.ProtoReflect().Descriptor().FullName(), err)
	}
	return nil
}

// SendMsg implements grpc.ServerStream. It returns when the message is written. A client that does
// not read it in time is disconnected.
func (k *call) SendMsg(m any) error {
	chunks, err := marshal(m.(proto.Message))
	if err != nil {
		return err
	}
	size := 0
	for _, p := range chunks {
		size += len(p)
	}
	if int64(size) > maxMessageBytes {
		return fmt.Errorf("an answer of %s", problem.Plural(size, "byte"))
	}
	k.writeHeaders()
	_ = k.controller.SetWriteDeadline(k.s.deadline(int64(size)))
	var prefix [prefixBytes]byte
	binary.BigEndian.PutUint32(prefix[1:], uint32(size))
	for _, p := range append([][]byte{prefix[:]}, chunks...) {
		if _, err := k.w.Write(p); err != nil {
			return protocol.Refuse(protocol.Canceled, "the client does not take the answer: %v", err)
		}
	}
	if !k.streaming {
		return nil
	}
	if err := k.controller.Flush(); err != nil {
		return protocol.Refuse(protocol.Canceled, "the client does not take the answer: %v", err)
	}
	return k.controller.SetWriteDeadline(time.Time{})
}

// writeHeaders sets the headers of the response.
func (k *call) writeHeaders() {
	h := k.w.Header()
	h["Content-Type"] = []string{"application/grpc"}
	h["Grpc-Accept-Encoding"] = []string{"gzip"}
	h["Date"] = nil
	if k.s.draining.Load() { // net/http then sends GOAWAY
		h.Set("Connection", "close")
	}
}

// finish ends a call with its status, which is sent in trailers.
func (k *call) finish(err error) {
	st := status.Convert(err)
	if k.writeHeaders(); st.Code() != codes.OK {
		_ = k.controller.SetWriteDeadline(k.s.deadline(0))
	}
	h := k.w.Header()
	h.Set(http.TrailerPrefix+"Grpc-Status", strconv.Itoa(int(st.Code())))
	if st.Message() != "" {
		h.Set(http.TrailerPrefix+"Grpc-Message", percentEncoded(st.Message()))
	}
}

// percentEncoded encodes a message for a header, as gRPC specifies.
func percentEncoded(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// timeout parses the header grpc-timeout: at most eight digits and a unit. If text is "", the time
// is not limited.
func timeout(text string) (time.Duration, error) {
	if text == "" {
		return forever, nil
	}
	units := map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond,
		'u': time.Microsecond, 'n': time.Nanosecond}
	digits, unit := text[:len(text)-1], units[text[len(text)-1]]
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || unit == 0 || len(digits) > 8 {
		return 0, invalid("grpc-timeout %.20q: want digits and one of H, M, S, m, u and n", text)
	}
	if n > uint64(forever/unit) {
		return forever, nil
	}
	return time.Duration(n) * unit, nil
}
