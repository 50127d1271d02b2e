package protocol

import (
	"encoding/json"
	"time"

	"github.com/bnctl/bnctl/tensor"
)

// Request is an inference request.
type Request struct {
	ID      string
	Inputs  []Input
	Outputs []Output      // requested outputs; empty: all
	Binary  bool          // default for outputs that do not set Output.Binary
	Timeout time.Duration // how long the client waits at most; 0: no limit given
	// Limits are the parameters score and overlap as text: the limits for the boxes of a detector.
	Limits map[string]string
	// Found makes the boxes of a detector, within Limits, the only output, in the form of graph.Detect. If the
	// devices do not compute boxes, the answer has the outputs of the network. Clients cannot set it.
	Found bool
	// Hold keeps the memory of the inputs until the function that it returns is called. nil: the memory stays.
	Hold func() (release func())
}

// Input is a tensor of a request.
type Input struct {
	Name     string
	Datatype string
	Shape    []int  // rows are the first axis
	Raw      []byte // the elements, row-major and little endian; nil if Numbers has them
	Numbers  json.RawMessage
}

// Output is a requested output.
type Output struct {
	Name    string
	Binary  *bool // whether the client wants bytes instead of JSON; nil: as Request.Binary says
	Classes int   // number of best classes to return, as strings; 0: return the numbers
}

// Tensor returns the input as a tensor. It may share memory with the request,
// and its memory may be unaligned.
func (input *Input) Tensor() (tensor.Tensor, error) {
	d, ok := dtypeOf(input.Datatype)
	if !ok {
		return tensor.Tensor{}, invalid("input %.80q: datatype %.80q does not exist", input.Name, input.Datatype)
	}
	size, err := tensor.Size(d, input.Shape)
	if err != nil {
		return tensor.Tensor{}, invalid("input %.80q: %v", input.Name, err)
	}
	if input.Raw == nil {
		return input.numbers(d)
	}
	if len(input.Raw) != size {
		return tensor.Tensor{}, invalid("input %.80q has %d bytes, and %s of shape %v has %d", input.Name,
			len(input.Raw),
			input.Datatype, input.Shape, size)
	}
	return tensor.Tensor{DType: d, Shape: input.Shape, Bytes: input.Raw}, nil
}
