package protocol

import (
	"encoding/json"
	"time"

	"github.com/bnctl/bnctl/tensor"
)

// Request is what is to be inferred, whichever way it came.
type Request struct {
	ID      string
	Inputs  []Input
	Outputs []Output      // that are wanted; none: all
	Binary  bool          // outputs that do not say it come as bytes
	Timeout time.Duration // how long the client waits at most; 0: not said
}

// Input is a tensor of a request.
type Input struct {
	Name     string
	Datatype string
	Shape    []int  // rows first
	Raw      []byte // the elements, row-major and little endian; nil where Numbers has them
	Numbers  json.RawMessage
}

// Output is a tensor that is wanted.
type Output struct {
	Name    string
	Binary  *bool // as bytes; nil: as Request.Binary says
	Classes int   // how many of the best classes to name, as strings; 0: the numbers
}

// Tensor returns the elements. They may share memory with the request, and lie
// at any address.
func (in *Input) Tensor() (tensor.Tensor, error) {
	d, ok := dtypeOf(in.Datatype)
	if !ok {
		return tensor.Tensor{}, invalid("input %.80q: there is no datatype %.80q", in.Name, in.Datatype)
	}
	size, err := tensor.Size(d, in.Shape)
	if err != nil {
		return tensor.Tensor{}, invalid("input %.80q: %v", in.Name, err)
	}
	if in.Raw == nil {
		return in.numbers(d)
	}
	if len(in.Raw) != size {
		return tensor.Tensor{}, invalid("input %.80q has %d bytes, and %s of shape %v has %d", in.Name, len(in.Raw),
			in.Datatype, in.Shape, size)
	}
	return tensor.Tensor{DType: d, Shape: in.Shape, Bytes: in.Raw}, nil
}
