package tensorflow

import (
	"fmt"
	"math"

	"github.com/bnctl/bnctl/formats/internal/message"
	"github.com/bnctl/bnctl/tensor"
)

// dtypes maps TensorFlow's DataType (types.proto) to bnctl's types.
var dtypes = map[uint64]tensor.DType{
	1: tensor.F32, 2: tensor.F64, 3: tensor.I32, 4: tensor.U8, 5: tensor.I16, 6: tensor.I8, 9: tensor.I64,
	10: tensor.Bool, 14: tensor.BF16, 17: tensor.U16, 19: tensor.F16, 22: tensor.U32, 23: tensor.U64,
}

const stringType = 7 // text: the object graph

// header is a message BundleHeaderProto.
type header struct {
	shards int
	big    bool
}

// maxShards limits the number of files in which a checkpoint stores the elements of its
// tensors.
const maxShards = 1024

func parseHeader(b []byte) (header, error) {
	var h header
	err := message.Walk(b, func(f message.Field) error {
		switch f.Number {
		case 1:
			h.shards = int(min(f.Bits, maxShards+1))
		case 2:
			h.big = f.Bits == 1
		}
		return nil
	})
	if err == nil && (h.shards < 1 || h.shards > maxShards) {
		err = fmt.Errorf("%d shards; 1 to %d are supported", h.shards, maxShards)
	}
	return h, err
}

// entry is a message BundleEntryProto: the type, shape and place of a variable.
type entry struct {
	name   string
	dtype  uint64
	shape  []int
	shard  uint64
	offset uint64
	size   uint64
	crc    uint32 // masked
	sliced bool
}

func parseEntry(name string, b []byte) (entry, error) {
	e := entry{name: name}
	err := message.Walk(b, func(f message.Field) (err error) {
		switch f.Number {
		case 1:
			e.dtype = f.Bits
		case 2:
			e.shape, err = parseShape(f.Bytes)
		case 3:
			e.shard = f.Bits
		case 4:
			e.offset = f.Bits
		case 5:
			e.size = f.Bits
		case 6:
			e.crc = uint32(f.Bits)
		case 7:
			e.sliced = true
		}
		return err
	})
	return e, err
}

// parseShape reads a message TensorShapeProto. Its field 2, dim, is a message with the
// length of an axis in field 1, size. Its field 3 is unknown_rank.
func parseShape(b []byte) ([]int, error) {
	var shape []int
	err := message.Walk(b, func(f message.Field) error {
		if f.Number == 3 && f.Bits != 0 {
			return fmt.Errorf("the rank is unknown")
		}
		if f.Number != 2 {
			return nil
		}
		if len(shape) == tensor.MaxRank {
			return fmt.Errorf("rank above %d", tensor.MaxRank)
		}
		size := uint64(0)
		err := message.Walk(f.Bytes, func(d message.Field) error {
			if d.Number == 1 {
				size = d.Bits
			}
			return nil
		})
		if size > math.MaxInt64 {
			return fmt.Errorf("a length is negative")
		}
		shape = append(shape, int(size))
		return err
	})
	return shape, err
}
