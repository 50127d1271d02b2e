package server

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/server/internal/protocol"
)

// A stream of rows is a connection that was upgraded from HTTP. It makes one prediction after the other, with
// the same answers as predictHTTP. It is faster than HTTP: a device that computes for some milliseconds
// evicts the server's code and data from the processor's caches. An HTTP request then costs half a
// millisecond, and a stream of rows avoids most of this cost.
//
//	GET /v2/models/NAME/predict, Connection: Upgrade, Upgrade: bnctl-rows    101, or an error of HTTP
//
//	client  uint32 head, uint32 shared, uint64 body   JSON of a request, or nothing   elements
//	server  uint32 head, uint32 status, uint64 body   JSON of an answer, or nothing   elements
//
// head is the number of bytes of JSON, and body the number of all bytes that follow. Numbers are little
// endian. A request without JSON has the rows of the only input. An answer without JSON has the same JSON as
// the previous answer. If the status is not 200, the answer is only JSON, {"error": "..."}.
//
// shared is 0 if the elements follow, and 1 if they are at the beginning of memory that the client shares
// with the server: see sharedMemory. Then head is 0, and nothing follows. The descriptor of this memory is
// passed with the numbers; the memory is used until another descriptor is passed.

// rowsProtocol is the protocol of a stream of rows, as the header Upgrade names it.
const rowsProtocol = "bnctl-rows"

// rowsPrefixBytes is the length of the three numbers before each message.
const rowsPrefixBytes = 16

// switching is the HTTP response that begins a stream.
const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + rowsProtocol +
	"\r\n"

// rowStream is a stream of rows. One goroutine uses it.
type rowStream struct {
	s             *Server
	conn          net.Conn
	tracked       *trackedConn
	opened        *http.Request // the request that asked for the stream
	name, version string        // name and version of the model
	memory        *sharedMemory // the client's memory, or nil

	model   *modelVersion      // model that gave the last answer
	last    []*protocol.Tensor // outputs of the last answer
	message []byte             // memory of the last answer
}

// upgradeToRows converts the connection of a request to a stream of rows, and serves the stream to its end.
func (s *Server) upgradeToRows(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.findPath(r); err != nil {
		return err
	}
	tracked, _ := r.Context().Value(connKey{}).(*trackedConn)
	if r.ProtoMajor != 1 || r.ContentLength != 0 || tracked == nil {
		return invalid("a stream of rows begins with a request of HTTP/1.1 without a body")
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil // the client is gone
	}
	defer conn.Close()
	if buffered.Reader.Buffered() > 0 {
		return nil // the client did not wait for the answer
	}
	if c, ok := w.(*statusWriter); ok { // only record the status, because net/http must not send a response
		c.status = http.StatusSwitchingProtocols
	}
	head := switching
	if receivesFiles(tracked.Conn) {
		head += sharedMemoryHeader + ": 1\r\n"
	}
	_ = conn.SetWriteDeadline(s.deadline(0))
	if _, err := io.WriteString(conn, head+"\r\n"); err != nil {
		return nil
	}
	recordOf(r.Context()).reservation.release()
	tracked.upgraded.Store(true)
	k := &rowStream{s: s, conn: conn, tracked: tracked, opened: r, name: r.PathValue("name"),
		version: r.PathValue("version")}
	for k.next() {
	}
	k.memory.release()
	return nil
}

// next answers one request, and reports whether another one may follow.
func (k *rowStream) next() (more bool) {
	var prefix [rowsPrefixBytes]byte
	k.tracked.onIdle()
	if k.s.draining.Load() {
		return false
	}
	file, err := k.readPrefix(prefix[:])
	k.tracked.onActive()
	if err != nil {
		return false
	}
	began := time.Now()
	rec := &record{reservation: reservation{memoryBudget: &k.s.budget, conn: k.tracked}}
	defer rec.reservation.release()
	body := unread{k: k, head: int64(binary.LittleEndian.Uint32(prefix[:])),
		remaining: int64(binary.LittleEndian.Uint64(prefix[8:]))}
	if shared := binary.LittleEndian.Uint32(prefix[4:]); shared != 0 {
		body.shared, body.remaining = body.remaining, 0
	}
	status := 0
	if err = k.acceptMemory(file); err == nil {
		status, err = k.answer(rec, &body)
	}
	if err != nil {
		status, err = k.refuse(err, &body)
	}
	code := strconv.Itoa(status)
	k.s.metrics.count(rec, "http", code)
	k.s.log(k.opened, rec, began, "http", code, rowsProtocol+" "+k.opened.URL.Path)
	return err == nil
}

// readPrefix reads the numbers before a request, and returns the file that the client has passed, or nil.
func (k *rowStream) readPrefix(prefix []byte) (*os.File, error) {
	if receivesFiles(k.tracked.Conn) {
		return readWithFile(k.tracked.Conn, prefix)
	}
	_, err := io.ReadFull(k.conn, prefix)
	return nil, err
}

// acceptMemory replaces the client's memory by the memory in file, unless that is nil.
func (k *rowStream) acceptMemory(file *os.File) error {
	if file == nil {
		return nil
	}
	m, err := mapShared(file, int64(k.s.o.Request))
	if err != nil {
		return err
	}
	k.memory.release()
	k.memory = m
	return nil
}

// unread is the body of a request that has not been read yet. It has head bytes of JSON, and then elements of
// tensors.
type unread struct {
	k               *rowStream
	head, remaining int64 // bytes; remaining are the bytes of the body that have not been read
	shared          int64 // bytes of the body in the client's memory, if it is there
}

// read reads the body. It first reserves memory. A body in the client's memory is not copied.
func (u *unread) read(res *reservation) ([]byte, error) {
	if u.shared > 0 {
		m := u.k.memory
		if m == nil || u.head > 0 || u.shared > int64(len(m.bytes)) {
			return nil, invalid("the request has %s in shared memory, with JSON of %s; want no JSON, and memory that "+
				"has these bytes", problem.Plural(int(u.shared), "byte"), problem.Plural(int(u.head), "byte"))
		}
		return m.bytes[:u.shared], nil
	}
	if u.remaining < u.head || u.remaining > int64(u.k.s.o.Request) {
		return nil, tooLarge(int64(u.k.s.o.Request))
	}
	_ = u.k.conn.SetReadDeadline(u.k.s.deadline(u.remaining))
	body, err := readAll(u.k.conn, u.remaining, u.remaining, res, 1)
	if err == nil {
		u.remaining = 0
		_ = u.k.conn.SetReadDeadline(time.Time{})
	}
	return body, err
}

// answer computes and writes an answer. If it returns an error, no answer was written, and the caller must
// send the error instead.
func (k *rowStream) answer(rec *record, u *unread) (status int, err error) {
	done, err := k.s.beginInference()
	if err != nil {
		return 0, err
	}
	defer done()
	if err := k.s.admit(rec, k.name, k.version); err != nil {
		return 0, err
	}
	body, err := u.read(&rec.reservation)
	if err != nil {
		return 0, err
	}
	var model *modelVersion
	ctx := context.WithValue(k.opened.Context(), recordKey{}, rec)
	answer, err := k.s.infer(ctx, k.name, k.version, func(m *modelVersion) (*protocol.Request, error) {
		model = m
		r, err := m.parse(body, int(u.head))
		if u.shared > 0 && err == nil {
			r.Hold = k.memory.hold
		}
		return r, err
	})
	if err != nil {
		return 0, err
	}
	if u.shared == 0 {
		recycleBuffer(body)
	}
	began := time.Now()
	err = k.write(model, model.predictions(answer))
	rec.encoded = time.Since(began)
	return http.StatusOK, err
}

// errGone is the error for a client that does not read its answer.
var errGone = errors.New("the client is gone")

// write writes an answer. Unless the answer is long, it is written in one call.
func (k *rowStream) write(m *modelVersion, a *protocol.Answer) error {
	head, tail := []byte(nil), make([][]byte, 0, 4)
	if k.repeats(m, a) {
		for _, o := range a.Outputs {
			tail = append(tail, o.Raw())
		}
	} else {
		var err error
		if head, tail, err = a.Write(); err != nil {
			return err
		}
		k.model, k.last = m, a.Outputs
	}
	size := len(head)
	for _, raw := range tail {
		size += len(raw)
	}
	k.begin(len(head), http.StatusOK, size)
	k.message = append(k.message, head...)
	for _, raw := range tail {
		if len(k.message)+len(raw) > maxJoined && !k.flush() {
			return errGone
		}
		if len(raw) > maxJoined {
			if _, err := k.conn.Write(raw); err != nil {
				return errGone
			}
			continue
		}
		k.message = append(k.message, raw...)
	}
	if !k.flush() {
		return errGone
	}
	return nil
}

// repeats reports whether an answer has the same JSON as the previous answer of the stream.
func (k *rowStream) repeats(m *modelVersion, a *protocol.Answer) bool {
	return k.model == m && a.ID == "" && slices.EqualFunc(k.last, a.Outputs, func(x, y *protocol.Tensor) bool {
		return x.Name == y.Name && slices.Equal(x.Shape, y.Shape)
	})
}

// begin begins a message in k.message with its prefix: lengths and status.
func (k *rowStream) begin(head, status, body int) {
	_ = k.conn.SetWriteDeadline(k.s.deadline(int64(body)))
	k.message = binary.LittleEndian.AppendUint32(k.message[:0], uint32(head))
	k.message = binary.LittleEndian.AppendUint32(k.message, uint32(status))
	k.message = binary.LittleEndian.AppendUint64(k.message, uint64(body))
}

// flush writes k.message, and reports whether that succeeded.
func (k *rowStream) flush() bool {
	_, err := k.conn.Write(k.message)
	k.message = k.message[:0]
	return err == nil
}

// refuse reads the rest of the request's body, and sends the error why. If refuse itself returns an error,
// the stream must end.
func (k *rowStream) refuse(why error, u *unread) (status int, err error) {
	if errors.Is(why, errGone) {
		return http.StatusOK, why
	}
	status = statusOf(why)
	if u.remaining >= 0 && u.remaining <= int64(k.s.o.Request) {
		_ = k.conn.SetReadDeadline(k.s.deadline(u.remaining))
		if _, err = io.CopyN(io.Discard, k.conn, u.remaining); err != nil {
			return status, err
		}
		_ = k.conn.SetReadDeadline(time.Time{})
	} else {
		err = why
	}
	text := errorJSON(why)
	k.model, k.last = nil, nil // the next answer has JSON, because this one was an error
	k.begin(len(text), status, len(text))
	k.message = append(k.message, text...)
	if !k.flush() {
		err = errGone
	}
	return status, err
}
