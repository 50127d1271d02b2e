package decode

import (
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/internal/message"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/problem"
)

// Fields that are read without decoding them. The elements of initializers stay in the file.
const (
	fieldGraph       = 7  // field of a model
	fieldInitializer = 5  // field of a graph
	fieldSparse      = 15 // field of a graph: initializers with few elements
	fieldRaw         = 9  // field of a tensor: its elements
	inlineRaw        = 64
)

// Limits on the contents of a file.
const (
	MaxNodes    = 1 << 16  // nodes of a graph
	spareMemory = 16 << 20 // bytes that a decoded model may use in addition to the size of its file
)

// Decoder decodes a model field by field. The elements of initializers are
// left in the file.
type Decoder struct {
	src   io.ReaderAt
	file  *message.File
	size  int64
	cost  int // memory used by decoded messages, in bytes
	Model *onnxpb.ModelProto
	raw   map[*onnxpb.TensorProto]message.Extent // position of elements in the file
}

// Decode decodes the model in the size bytes of src.
func Decode(src io.ReaderAt, size int64) (*Decoder, error) {
	d := &Decoder{src: src, file: message.NewFile(src), size: size, cost: messageCost,
		Model: &onnxpb.ModelProto{}, raw: map[*onnxpb.TensorProto]message.Extent{}}
	err := d.file.Walk(message.Extent{Size: size}, func(p message.FieldExtent) error {
		if p.Number == fieldGraph && p.Type == message.Bytes {
			if d.Model.Graph == nil {
				d.Model.Graph = &onnxpb.GraphProto{}
			}
			return d.file.Walk(p.Body, d.graphField)
		}
		return d.merge(p.Whole, modelMessage, d.Model)
	})
	return d, err
}

func (d *Decoder) graphField(p message.FieldExtent) error {
	if p.Number == fieldSparse {
		return problem.Advise("write them dense", "sparse initializers are not supported")
	}
	if p.Number != fieldInitializer || p.Type != message.Bytes {
		return d.merge(p.Whole, graphMessage, d.Model.Graph)
	}
	t := &onnxpb.TensorProto{}
	d.Model.Graph.Initializer = append(d.Model.Graph.Initializer, t)
	if err := d.charge(messageCost); err != nil {
		return err
	}
	return d.file.Walk(p.Body, func(p message.FieldExtent) error {
		if p.Number != fieldRaw || p.Type != message.Bytes {
			return d.merge(p.Whole, tensorMessage, t)
		}
		if delete(d.raw, t); p.Body.Size < inlineRaw {
			return d.merge(p.Whole, tensorMessage, t)
		}
		t.RawData, d.raw[t] = nil, p.Body
		return nil
	})
}

// merge decodes the bytes of one field into a message, after its memory has been counted.
func (d *Decoder) merge(e message.Extent, m fields, dst proto.Message) error {
	b, err := d.file.Read(e)
	if err != nil {
		return err
	}
	cost, err := survey(b, m, int(e.At))
	if err != nil {
		return err
	}
	if err := d.charge(cost - messageCost); err != nil { // dst exists already
		return err
	}
	return proto.UnmarshalOptions{DiscardUnknown: true, Merge: true}.Unmarshal(b, dst)
}

// charge adds n bytes to the memory of decoded messages, and returns an error if it exceeds
// the limit.
func (d *Decoder) charge(n int) error {
	if limit := int(d.size) + spareMemory; d.cost+n > limit {
		return fmt.Errorf("decoded the model would take more than %d bytes, which a file of %d does not justify",
			limit, d.size)
	}
	d.cost += n
	return nil
}
