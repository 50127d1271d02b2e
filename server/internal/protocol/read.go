package protocol

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// body is the JSON of a request.
type body struct {
	ID         requestID  `json:"id"`
	Parameters parameters `json:"parameters"`
	Inputs     []struct {
		Name       string          `json:"name"`
		Datatype   string          `json:"datatype"`
		Shape      shape           `json:"shape"`
		Parameters parameters      `json:"parameters"`
		Data       json.RawMessage `json:"data"`
	} `json:"inputs"`
	Outputs []struct {
		Name       string     `json:"name"`
		Parameters parameters `json:"parameters"`
	} `json:"outputs"`
}

// parameters holds the parameters of a request or a tensor that this package knows. Other parameters are
// ignored.
type parameters struct {
	BinarySize   *int    `json:"binary_data_size"`
	Binary       *bool   `json:"binary_data"`
	BinaryOutput bool    `json:"binary_data_output"`
	Classes      int     `json:"classification"`
	Timeout      int64   `json:"timeout"` // microseconds
	Region       *string `json:"shared_memory_region"`

	Score   json.RawMessage `json:"score"`
	Overlap json.RawMessage `json:"overlap"`

	Sequence id `json:"sequence_id"`
}

// Limits of the values in a request. Values made from JSON may need far more memory than their text: {}
// becomes an input, and 0 becomes a number of eight bytes. A server reserves memory by the size of the text,
// so the number of values is limited here.
const (
	mostObjects = 1000
	longest     = 1000 // maximum bytes of a shape in JSON
)

// shape is a shape in JSON.
type shape []int

// UnmarshalJSON implements json.Unmarshaler.
func (s *shape) UnmarshalJSON(text []byte) error {
	if len(text) > longest {
		return invalid("a shape of %d characters; want at most %d", len(text), longest)
	}
	return json.Unmarshal(text, (*[]int)(s))
}

// id is an identifier that may have any JSON type. It is "" for the JSON values "", 0 and null.
type id string

// UnmarshalJSON implements json.Unmarshaler.
func (i *id) UnmarshalJSON(text []byte) error {
	if *i = id(text); *i == `""` || *i == "0" || *i == "null" {
		*i = ""
	}
	return nil
}

// requestID is the id of a request in JSON: a string or a number. The answer repeats it as a string.
type requestID string

// UnmarshalJSON implements json.Unmarshaler.
func (i *requestID) UnmarshalJSON(text []byte) error {
	var number json.Number
	if err := json.Unmarshal(text, &number); err == nil && text[0] != '"' {
		*i = requestID(number)
		return nil
	}
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return invalid("id %.40s: want a string or a number", text)
	}
	*i = requestID(s)
	return nil
}

// CheckImplemented returns an error for parameters that this server does not implement and must not ignore: a
// region of shared memory, and a sequence. They may be parameters of a request or of a tensor, in JSON or
// gRPC.
func CheckImplemented(region, sequence bool) error {
	switch {
	case region:
		return Refuse(Unimplemented, "shared memory is not supported; send the elements of tensors")
	case sequence:
		return Refuse(Unimplemented, "sequences are not supported: every request is independent")
	}
	return nil
}

func (p *parameters) check() error { return CheckImplemented(p.Region != nil, p.Sequence != "") }

// Read parses the body of a request. jsonBytes is the value of the header Inference-Header-Content-Length:
// the number of bytes of JSON at the start, before the binary elements of inputs. Without the header
// jsonBytes must be -1: the whole body is JSON. If it is 0 there is no JSON; then use Whole instead. The
// request shares memory with data.
func Read(data []byte, jsonBytes int) (*Request, error) {
	if jsonBytes < 0 {
		jsonBytes = len(data)
	}
	if jsonBytes > len(data) {
		return nil, invalid("Inference-Header-Content-Length %d, and the body has %d bytes", jsonBytes, len(data))
	}
	if n := bytes.Count(data[:jsonBytes], []byte("{")); n > mostObjects {
		return nil, invalid("the request has %d objects of JSON; want at most %d", n, mostObjects)
	}
	var b body
	if err := json.Unmarshal(data[:jsonBytes], &b); err != nil {
		return nil, invalid("the request is not JSON of the Open Inference Protocol: %v", JSONProblem(err))
	}
	r := &Request{ID: string(b.ID), Binary: b.Parameters.BinaryOutput,
		Timeout: microseconds(b.Parameters.Timeout), Limits: b.Parameters.limits()}
	if err := b.Parameters.check(); err != nil {
		return nil, err
	}
	if err := b.inputs(r, data[jsonBytes:]); err != nil {
		return nil, err
	}
	return r, b.outputs(r)
}

// limits returns the parameters for Request.Limits. In JSON each of them may be a number, or a number in
// quotes.
func (p *parameters) limits() map[string]string {
	all := map[string]string{}
	for name, text := range map[string]json.RawMessage{"score": p.Score, "overlap": p.Overlap} {
		if len(text) > 0 && string(text) != "null" {
			all[name] = strings.Trim(string(text), `"`)
		}
	}
	return all
}

func microseconds(n int64) time.Duration {
	const most = int64(time.Hour / time.Microsecond)
	return time.Duration(min(max(n, 0), most)) * time.Microsecond
}

// inputs divides the bytes after the JSON among the inputs.
func (b *body) inputs(r *Request, tail []byte) error {
	for _, in := range b.Inputs {
		if err := in.Parameters.check(); err != nil {
			return err
		}
		i := Input{Name: in.Name, Datatype: in.Datatype, Shape: in.Shape, Numbers: in.Data}
		switch size := in.Parameters.BinarySize; {
		case size != nil && in.Data != nil:
			return invalid("input %.80q has data and binary_data_size; give one of them", in.Name)
		case size == nil && in.Data == nil:
			return invalid("input %.80q has neither data nor binary_data_size", in.Name)
		case size != nil && (*size < 0 || *size > len(tail)):
			return invalid("input %.80q has binary_data_size %d, and %d bytes are left of the body", in.Name, *size,
				len(tail))
		case size != nil:
			i.Raw, tail = tail[:*size:*size], tail[*size:]
		}
		r.Inputs = append(r.Inputs, i)
	}
	if len(tail) > 0 {
		return invalid("%d bytes after the JSON belong to no input", len(tail))
	}
	return nil
}

func (b *body) outputs(r *Request) error {
	for _, o := range b.Outputs {
		if err := o.Parameters.check(); err != nil {
			return err
		}
		if o.Parameters.Classes < 0 {
			return invalid("output %.80q: classification %d; want at least 1", o.Name, o.Parameters.Classes)
		}
		r.Outputs = append(r.Outputs, Output{o.Name, o.Parameters.Binary, o.Parameters.Classes})
	}
	return nil
}

// Whole returns the request for a body without JSON: it has only the elements of the only input.
func Whole(data []byte, name, datatype string, shape []int) *Request {
	return &Request{Binary: true, Inputs: []Input{{Name: name, Datatype: datatype, Shape: shape, Raw: data}}}
}
