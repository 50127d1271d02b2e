package server

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/server/internal/protocol"
	"github.com/bnctl/bnctl/tensor"
)

// jsonLength is the header with the number of bytes of JSON in a body. The elements of tensors follow the
// JSON.
const jsonLength = "Inference-Header-Content-Length"

// inferHTTP answers an inference request over HTTP.
func (s *Server) inferHTTP(w http.ResponseWriter, r *http.Request) error {
	return s.answerInference(w, r, func(_ *modelVersion, a *protocol.Answer) *protocol.Answer { return a })
}

// answerInference answers an inference request. form converts the answer to the form of the response.
func (s *Server) answerInference(w http.ResponseWriter, r *http.Request,
	form func(*modelVersion, *protocol.Answer) *protocol.Answer) error {
	done, err := s.beginInference()
	if err != nil {
		return err
	}
	defer done()
	res := &recordOf(r.Context()).reservation
	// Refuse requests before memory is used for the body.
	if err := s.admit(recordOf(r.Context()), r.PathValue("name"), r.PathValue("version")); err != nil {
		return err
	}
	body, err := s.body(w, r, res)
	if err != nil {
		return err
	}
	var model *modelVersion
	answer, err := s.infer(r.Context(), r.PathValue("name"), r.PathValue("version"),
		func(m *modelVersion) (*protocol.Request, error) {
			model = m
			return m.request(r.Header, body)
		})
	if err != nil {
		return err
	}
	recycleBuffer(body)
	began := time.Now()
	err = s.writeAnswer(w, form(model, answer))
	recordOf(r.Context()).encoded = time.Since(began)
	return err
}

// request parses the body of an inference request.
func (s *modelVersion) request(h http.Header, body []byte) (*protocol.Request, error) {
	length := h.Get(jsonLength)
	if length == "" {
		return protocol.Read(body, -1)
	}
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || len(h.Values(jsonLength)) > 1 {
		return nil, invalid("%s %.40q: want the bytes of JSON in the body", jsonLength, length)
	}
	return s.parse(body, n)
}

// parse parses a body with n bytes of JSON, followed by elements of tensors. If n is 0, the whole body is the
// rows of the model's only input.
func (s *modelVersion) parse(body []byte, n int) (*protocol.Request, error) {
	if n > 0 {
		return protocol.Read(body, n)
	}
	if s.model.Fields != nil {
		return nil, invalid("the body has no JSON, and model %s has %s; name each of them in JSON", s.name,
			problem.Plural(len(s.inputs), "input"))
	}
	in := s.model.Input()
	rows := max(1, len(body)/max(1, tensor.Count(in.Shape)*in.DType.Size()))
	shape := append([]int{rows}, in.Shape...)
	return protocol.Whole(body, s.input.Name, s.input.Datatype, shape), nil
}

// maxJoined is the maximum size of a response that is copied into one slice and written at once. Writing at
// once is faster, because each write wakes the client.
const maxJoined = 64 << 10

// writeAnswer writes the JSON of a response, followed by the elements of tensors.
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
	_ = http.NewResponseController(w).SetWriteDeadline(s.deadline(int64(size)))
	chunks := append([][]byte{head}, tail...)
	if size <= maxJoined {
		chunks = [][]byte{bytes.Join(chunks, nil)}
	}
	for _, chunk := range chunks {
		if _, err := w.Write(chunk); err != nil {
			return nil // the client is gone
		}
	}
	return nil
}
