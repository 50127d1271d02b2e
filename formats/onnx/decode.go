package onnx

import (
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// Fields that are walked instead of decoded, and what of an initializer stays
// in the file.
const (
	fieldGraph       = 7 // of a model
	fieldInitializer = 5 // of a graph
	fieldRaw         = 9 // of a tensor: its elements
	inlineRaw        = 64
)

// decoder decodes a model field by field. The elements of initializers are
// left in the file.
type decoder struct {
	src   io.ReaderAt
	size  int64
	cost  int // memory of what was decoded, in bytes
	model *onnxpb.ModelProto
	raw   map[*onnxpb.TensorProto]extent // where elements lie
}

// extent is a range of bytes of the file.
type extent struct{ at, size int64 }

func (e extent) end() int64 { return e.at + e.size }

// part is one field of a message as it lies in the file, tag and length
// included; body is what it holds if it is a field of bytes.
type part struct {
	number protowire.Number
	bytes  bool
	whole  extent
	body   extent
}

// decode decodes the model in the size bytes of src.
func decode(src io.ReaderAt, size int64) (*decoder, error) {
	d := &decoder{src: &pages{src: src}, size: size, cost: messageCost, model: &onnxpb.ModelProto{},
		raw: map[*onnxpb.TensorProto]extent{}}
	err := d.walk(extent{0, size}, func(p part) error {
		if p.number == fieldGraph && p.bytes {
			if d.model.Graph == nil {
				d.model.Graph = &onnxpb.GraphProto{}
			}
			return d.walk(p.body, d.graphField)
		}
		return d.merge(p.whole, modelMessage, d.model)
	})
	return d, err
}

// walk calls visit for every field of the message in e.
func (d *decoder) walk(e extent, visit func(part) error) error {
	for at := e.at; at < e.end(); {
		p, err := d.next(at, e.end())
		if err == nil {
			err = visit(p)
		}
		if err != nil {
			return err
		}
		at = p.whole.end()
	}
	return nil
}

// next reads the tag of the field at an offset, and its length.
func (d *decoder) next(at, end int64) (p part, err error) {
	const most = 20 // bytes of a tag and a number
	head := make([]byte, min(most, end-at))
	if err := foreign.ReadAt(d.src, head, at); err != nil {
		return p, err
	}
	number, wire, n := protowire.ConsumeTag(head)
	if n < 0 {
		return p, fmt.Errorf("offset %d: %w", at, protowire.ParseError(n))
	}
	p.number = number
	if wire != protowire.BytesType {
		m := protowire.ConsumeFieldValue(number, wire, head[n:])
		if m < 0 {
			return p, fmt.Errorf("offset %d: field %d: %w", at, number, protowire.ParseError(m))
		}
		p.whole = extent{at, int64(n + m)}
		return p, nil
	}
	length, m := protowire.ConsumeVarint(head[n:])
	left := end - at - int64(n+m)
	switch {
	case m < 0:
		return p, fmt.Errorf("offset %d: field %d: %w", at, number, protowire.ParseError(m))
	case length > uint64(left):
		return p, fmt.Errorf("offset %d: field %d: %w", at+int64(n), number, io.ErrUnexpectedEOF)
	}
	p.bytes, p.body = true, extent{at + int64(n+m), int64(length)}
	p.whole = extent{at, int64(n+m) + int64(length)}
	return p, nil
}

func (d *decoder) graphField(p part) error {
	if p.number != fieldInitializer || !p.bytes {
		return d.merge(p.whole, graphMessage, d.model.Graph)
	}
	t := &onnxpb.TensorProto{}
	d.model.Graph.Initializer = append(d.model.Graph.Initializer, t)
	if err := d.charge(messageCost); err != nil {
		return err
	}
	return d.walk(p.body, func(p part) error {
		if p.number != fieldRaw || !p.bytes {
			return d.merge(p.whole, tensorMessage, t)
		}
		if delete(d.raw, t); p.body.size < inlineRaw {
			return d.merge(p.whole, tensorMessage, t)
		}
		t.RawData, d.raw[t] = nil, p.body
		return nil
	})
}

// merge decodes the bytes of one field into a message, after it has been weighed.
func (d *decoder) merge(e extent, m message, into proto.Message) error {
	b := make([]byte, e.size)
	if err := foreign.ReadAt(d.src, b, e.at); err != nil {
		return err
	}
	cost, err := survey(b, m, int(e.at))
	if err != nil {
		return err
	}
	if err := d.charge(cost - messageCost); err != nil { // into is there already
		return err
	}
	return proto.UnmarshalOptions{DiscardUnknown: true, Merge: true}.Unmarshal(b, into)
}

// charge counts memory.
func (d *decoder) charge(n int) error {
	if limit := int(d.size) + spareMemory; d.cost+n > limit {
		return fmt.Errorf("decoded the model would take more than %d bytes, which a file of %d does not justify",
			limit, d.size)
	}
	d.cost += n
	return nil
}

// pages reads small pieces that follow one another a page at a time.
type pages struct {
	src  io.ReaderAt
	page []byte
	at   int64 // of page
}

const pageSize = 64 << 10

func (p *pages) ReadAt(dst []byte, off int64) (int, error) {
	if len(dst) > pageSize/2 {
		return p.src.ReadAt(dst, off)
	}
	if off < p.at || off+int64(len(dst)) > p.at+int64(len(p.page)) {
		if p.page == nil {
			p.page = make([]byte, pageSize)
		}
		n, err := p.src.ReadAt(p.page[:pageSize], off)
		if err != nil && err != io.EOF {
			return 0, err
		}
		p.page, p.at = p.page[:n], off
	}
	n := copy(dst, p.page[off-p.at:])
	if n < len(dst) {
		return n, io.EOF
	}
	return n, nil
}
