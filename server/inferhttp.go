package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/bnctl/bnctl/server/internal/protocol"
	"github.com/bnctl/bnctl/tensor"
)

// jsonLength is the header that says how much of a body is JSON; the rest is
// the elements of tensors.
const jsonLength = "Inference-Header-Content-Length"

// inferHTTP answers an inference request.
func (s *Server) inferHTTP(w http.ResponseWriter, r *http.Request) error {
	done, err := s.begin()
	if err != nil {
		return err
	}
	defer done()
	l := &recordOf(r.Context()).lease
	if err := s.admit(r.PathValue("name"), r.PathValue("version")); err != nil { // before its body takes memory
		return err
	}
	body, err := s.body(w, r, l)
	if err != nil {
		return err
	}
	answer, err := s.infer(r.Context(), r.PathValue("name"), r.PathValue("version"),
		func(m *served) (*protocol.Request, error) { return m.request(r.Header, body) })
	if err != nil {
		return err
	}
	keepBuffer(body)
	began := time.Now()
	err = s.writeAnswer(w, answer)
	recordOf(r.Context()).encoded = time.Since(began)
	return err
}

// request reads the body of an inference request.
func (s *served) request(h http.Header, body []byte) (*protocol.Request, error) {
	length := h.Get(jsonLength)
	if length == "" {
		return protocol.Read(body, -1)
	}
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || len(h.Values(jsonLength)) > 1 {
		return nil, invalid("%s %.40q: want the bytes of JSON in the body", jsonLength, length)
	}
	if n > 0 {
		return protocol.Read(body, n)
	}
	in := s.model.Input()
	rows := max(1, len(body)/max(1, tensor.Count(in.Shape)*in.DType.Size()))
	shape := append([]int{rows}, in.Shape...)
	return protocol.Whole(body, s.input.Name, s.input.Datatype, shape), nil
}

// writeAnswer writes the JSON of an answer, and the elements behind it.
func (s *Server) writeAnswer(w http.ResponseWriter, a *protocol.Answer) error {
	head, tail, err := a.Write()
	if err != nil {
		return err
	}
	size := len(head)
	for _, raw := range tail {
		size += len(raw)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if tail != nil {
		h.Set("Content-Type", "application/octet-stream")
		h.Set(jsonLength, strconv.Itoa(len(head)))
	}
	h.Set("Content-Length", strconv.Itoa(size))
	_ = http.NewResponseController(w).SetWriteDeadline(s.due(int64(size)))
	for _, part := range append([][]byte{head}, tail...) {
		if _, err := w.Write(part); err != nil {
			return nil // the client is gone
		}
	}
	return nil
}
