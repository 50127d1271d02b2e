package protocol

import (
	"encoding/binary"
	"encoding/json"

	"github.com/bnctl/bnctl/tensor"
)

// Answer is the answer to an inference request.
type Answer struct {
	Model      string            `json:"model_name"`
	Version    string            `json:"model_version"`
	ID         string            `json:"id,omitempty"`
	Parameters map[string]string `json:"parameters,omitempty"` // parameters of the answer: "sha256"
	Outputs    []*Tensor         `json:"outputs"`
}

// Tensor is an output: a tensor, or strings.
type Tensor struct {
	Name       string         `json:"name"`
	Datatype   string         `json:"datatype"`
	Shape      []int          `json:"shape"`
	Parameters map[string]any `json:"parameters,omitempty"`
	Data       any            `json:"data,omitempty"`

	Values  tensor.Tensor `json:"-"`
	Strings []string      `json:"-"` // in place of Values, if Datatype is Bytes
	Binary  bool          `json:"-"`
}

// Write returns the JSON of an answer, and the elements of binary outputs as bytes. The bytes follow the JSON
// in the body.
func (a *Answer) Write() (head []byte, tail [][]byte, err error) {
	for _, t := range a.Outputs {
		if t.Binary {
			raw := t.Raw()
			t.Parameters = map[string]any{"binary_data_size": len(raw)}
			tail = append(tail, raw)
			continue
		}
		if t.Data, err = t.elements(); err != nil {
			return nil, nil, err
		}
	}
	head, err = json.Marshal(a)
	return head, tail, err
}

// Raw returns the elements as bytes. Each string is preceded by its length in four bytes.
func (t *Tensor) Raw() []byte {
	if t.Datatype != Bytes {
		return t.Values.Bytes
	}
	raw := []byte{}
	for _, s := range t.Strings {
		raw = append(binary.LittleEndian.AppendUint32(raw, uint32(len(s))), s...)
	}
	return raw
}

// elements returns the elements in a form for JSON. It returns an error for numbers that are not finite,
// which JSON does not have.
func (t *Tensor) elements() (any, error) {
	if t.Datatype == Bytes {
		return t.Strings, nil
	}
	v := t.Values
	switch v.DType {
	case tensor.F32:
		for _, x := range v.F32() {
			if !tensor.IsFinite(x) {
				return nil, t.notFinite(float64(x))
			}
		}
		return v.F32(), nil
	case tensor.F64:
		for _, x := range v.F64() {
			if !tensor.IsFinite(x) {
				return nil, t.notFinite(x)
			}
		}
		return v.F64(), nil
	case tensor.I32:
		return v.I32(), nil
	case tensor.I64:
		return v.I64(), nil
	case tensor.U8:
		whole := make([]int, len(v.Bytes))
		for i, b := range v.Bytes {
			whole[i] = int(b)
		}
		return whole, nil
	case tensor.Bool:
		return tensor.View[bool](v), nil
	case tensor.I8:
		return tensor.View[int8](v), nil
	}
	return nil, invalid("output %q is %s, which JSON does not have; ask for binary_data", t.Name, t.Datatype)
}

func (t *Tensor) notFinite(x float64) error {
	return Refuse(Internal, "output %q has %v, which JSON has no number for; ask for binary_data", t.Name, x)
}
