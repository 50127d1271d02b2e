package onnx

import (
	"fmt"

	"github.com/bnctl/bnctl/formats/internal/foreign"
	"github.com/bnctl/bnctl/formats/onnx/internal/fold"
	"github.com/bnctl/bnctl/formats/onnx/internal/node"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/internal/memory"
	"github.com/bnctl/bnctl/tensor"
)

// Files without weights have ConstantOfShape nodes instead, which make hundreds of MB. Large ones
// are filled only when a node reads them, as if they were stored in the file. All of them are
// counted first, and must fit into half of the free memory.
const (
	leastFill = 1 << 20
	unknown64 = 8 << 30 // assumed memory of a system that does not report its free memory
)

// fill converts a large ConstantOfShape to a tensor that is filled when it is loaded. It reports
// whether the node is one.
func (r *reader) fill(n *onnxpb.NodeProto) (filled bool, err error) {
	c, err := r.call(n)
	if err != nil || table["ConstantOfShape"].attributes.Check(&c.Node) != nil || len(n.Output) != 1 {
		return false, nil // folding reports the fault
	}
	one, shape := fold.ReadFilled(&c.Node)
	size, err := tensor.Size(one.DType, shape)
	if c.Err != nil || err != nil || size < leastFill {
		return false, nil
	}
	_, free := memory.Machine()
	if free == 0 {
		free = unknown64
	}
	if r.fills += int64(size); r.fills > free/2 {
		return false, fmt.Errorf("tensor %.80q: filled constants of %d MiB are more than half of the %d MiB "+
			"of memory that are free", n.Output[0], r.fills>>20, free>>20)
	}
	t, err := foreign.NewTensor(n.Output[0], one.DType, shape, func(dst []byte) error {
		for at := copy(dst, one.Bytes); at < len(dst); at *= 2 {
			copy(dst[at:], dst[:at])
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	r.filled[t.Name] = true
	return true, r.define(t.Name, node.InFile(&t))
}
