package server

import (
	"compress/gzip"
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

// call is a call over gRPC. It is a grpc.ServerStream, whatever the method is.
type call struct {
	ctx   context.Context
	s     *Server
	w     http.ResponseWriter
	r     *http.Request
	pace  *http.ResponseController
	lease *lease
	most  int64  // bytes of a message
	body  []byte // the last message
	holds int64  // bytes of the lease that are the last message
	many  bool   // messages may come and go
}

// prefixBytes come before a message: whether it is packed, and its length.
const prefixBytes = 5

// Context implements grpc.ServerStream, as the methods below do.
func (k *call) Context() context.Context { return k.ctx }

func (k *call) SetHeader(metadata.MD) error { return nil }

func (k *call) SendHeader(metadata.MD) error { return nil }

func (k *call) SetTrailer(metadata.MD) {}

// RecvMsg reads a message, after which nobody reads the one before.
func (k *call) RecvMsg(m any) error {
	k.lease.shrink(k.holds)
	before := k.lease.held
	err := k.read()
	if err == nil {
		err = k.unmarshal(m.(proto.Message))
	}
	k.holds = k.lease.held - before
	return err
}

// only reads the message of a call that has one. What else comes is not held.
func (k *call) only(m any) error {
	err := k.RecvMsg(m)
	if errors.Is(err, io.EOF) {
		err = invalid("the call has no message")
	}
	_ = k.r.Body.Close()
	return err
}

// read reads a message as a whole, unpacked. Room is taken before. It is io.EOF if
// there is none.
func (k *call) read() error {
	var prefix [prefixBytes]byte
	k.hurry(0)
	if _, err := io.ReadFull(k.r.Body, prefix[:]); err != nil {
		return k.unreadable(err)
	}
	size := int64(binary.BigEndian.Uint32(prefix[1:]))
	if size > k.most {
		return tooLarge(k.most)
	}
	k.hurry(size)
	var err error
	if prefix[0] == 0 {
		if err = k.lease.grow(size); err == nil {
			k.body = newBuffer(int(size))
			_, err = io.ReadFull(k.r.Body, k.body)
		}
	} else {
		err = k.unpack(io.LimitReader(k.r.Body, size))
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return k.unreadable(err)
}

// hurry gives a message of a unary call the time that its size needs.
func (k *call) hurry(size int64) {
	until := k.s.due(size)
	if end, ok := k.ctx.Deadline(); ok && end.Before(until) {
		until = end
	}
	if !k.many {
		_ = k.pace.SetReadDeadline(until)
	}
}

func (k *call) unpack(from io.Reader) error {
	if how := k.r.Header.Get("Grpc-Encoding"); how != "gzip" {
		return protocol.Refuse(protocol.Unimplemented, "messages are not taken in the encoding %.40q", how)
	}
	if err := k.lease.grow(unpacking); err != nil {
		return err
	}
	z, err := gzip.NewReader(from)
	if err == nil {
		k.body, err = readParts(z, k.most, k.lease, 1)
	}
	k.lease.shrink(unpacking)
	return err
}

// unreadable says why a message cannot be read.
func (k *call) unreadable(err error) error {
	var r *protocol.Refusal
	switch {
	case err == nil, err == io.EOF, errors.As(err, &r):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return protocol.Refuse(protocol.Late, "the message did not come in time")
	case k.r.Context().Err() != nil:
		return protocol.Refuse(protocol.Canceled, "the client gave up")
	}
	return invalid("the message breaks off: %v", err)
}

// unmarshal reads the message in k.body. Room is taken for what protocol buffers
// make of it.
func (k *call) unmarshal(m proto.Message) error {
	if err := k.lease.grow(becomes(k.body, m.ProtoReflect().Descriptor())); err != nil {
		return err
	}
	if err := unmarshal(k.body, m); err != nil {
		return invalid("the message is none of %s: %v", m.ProtoReflect().Descriptor().FullName(), err)
	}
	return nil
}

// SendMsg implements grpc.ServerStream. It returns when the message is on its way;
// a client that does not take it in time is cut off.
func (k *call) SendMsg(m any) error {
	parts, err := marshal(m.(proto.Message))
	if err != nil {
		return err
	}
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	if int64(size) > mostMessage {
		return fmt.Errorf("an answer of %s", problem.Counted(size, "byte"))
	}
	k.begin()
	_ = k.pace.SetWriteDeadline(k.s.due(int64(size)))
	var prefix [prefixBytes]byte
	binary.BigEndian.PutUint32(prefix[1:], uint32(size))
	for _, p := range append([][]byte{prefix[:]}, parts...) {
		if _, err := k.w.Write(p); err != nil {
			return protocol.Refuse(protocol.Canceled, "the client does not take the answer: %v", err)
		}
	}
	if !k.many {
		return nil
	}
	if err := k.pace.Flush(); err != nil {
		return protocol.Refuse(protocol.Canceled, "the client does not take the answer: %v", err)
	}
	return k.pace.SetWriteDeadline(time.Time{})
}

// begin sets the headers of the answer.
func (k *call) begin() {
	h := k.w.Header()
	h["Content-Type"] = []string{"application/grpc"}
	h["Grpc-Accept-Encoding"] = []string{"gzip"}
	h["Date"] = nil
}

// finish ends a call with its status, which follows the answer.
func (k *call) finish(err error) {
	st := status.Convert(err)
	if k.begin(); st.Code() != codes.OK {
		_ = k.pace.SetWriteDeadline(k.s.due(0))
	}
	h := k.w.Header()
	h.Set(http.TrailerPrefix+"Grpc-Status", strconv.Itoa(int(st.Code())))
	if st.Message() != "" {
		h.Set(http.TrailerPrefix+"Grpc-Message", escaped(st.Message()))
	}
}

// escaped is a message as headers may hold it.
func escaped(text string) string {
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

// timeout reads a grpc-timeout, at most eight digits and a unit. A client that
// gives none gives all.
func timeout(text string) (time.Duration, error) {
	if text == "" {
		return forEver, nil
	}
	units := map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond,
		'u': time.Microsecond, 'n': time.Nanosecond}
	digits, unit := text[:len(text)-1], units[text[len(text)-1]]
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || unit == 0 || len(digits) > 8 {
		return 0, invalid("grpc-timeout %.20q: want digits and one of H, M, S, m, u and n", text)
	}
	if n > uint64(forEver/unit) {
		return forEver, nil
	}
	return time.Duration(n) * unit, nil
}
