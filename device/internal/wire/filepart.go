package wire

import (
	"fmt"

	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/tensor"
)

// MinMapped is the minimum size of a tensor that is mapped instead of copied.
const MinMapped = 64 << 10

// EncodeFilePart names the file that t is a view of. It returns nil if t is not a view of a
// file, if other processes cannot find the file, or if t is small.
func EncodeFilePart(t tensor.Tensor) *pb.FilePart {
	if len(t.Bytes) < MinMapped {
		return nil
	}
	m, offset := tensor.MappedAt(t.Bytes)
	if m == nil || m.Path() == "" || offset%tensor.Alignment != 0 {
		return nil
	}
	return &pb.FilePart{Path: m.Path(), Offset: offset, Type: header(t)}
}

// DecodeFilePart returns the tensor as a view of its file. The file stays mapped until Mapped.Close.
func DecodeFilePart(p *pb.FilePart) (tensor.Tensor, *tensor.Mapped, error) {
	t, err := shapeOf(p.GetType())
	if err != nil {
		return t, nil, err
	}
	m, err := tensor.Map(p.GetPath())
	if err != nil {
		return t, nil, err
	}
	from, size := p.GetOffset(), int64(t.Count()*t.DType.Size())
	if from < 0 || from%tensor.Alignment != 0 || from > int64(len(m.Bytes)) || size > int64(len(m.Bytes))-from {
		m.Close()
		return t, nil, fmt.Errorf("%d bytes at %d of %s, which has %d: begin at a multiple of %d, within the file",
			size, from, p.GetPath(), len(m.Bytes), tensor.Alignment)
	}
	t.Bytes = m.Bytes[from : from+size : from+size]
	return t, m, nil
}
