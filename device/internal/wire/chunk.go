package wire

import (
	"fmt"
	"slices"

	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/tensor"
)

// InChunk returns the parts of an exchange that are there, and its results, in the memory
// of a chunk (device.proto): a result lies over the first part of its value. The chunk has to be
// as long as SizeOfChunk says.
func InChunk(chunk []byte, x *pb.Exchange) (parts, results []tensor.Tensor, err error) {
	values, err := heads(x)
	if err != nil {
		return nil, nil, err
	}
	if n := Bytes(slices.Concat(values...)); n > int64(len(chunk)) || chunkBytes(values) != len(chunk) {
		return nil, nil, fmt.Errorf("a chunk of %d bytes for values of %d", len(chunk), n)
	}
	for i, v := range x.GetValues() {
		chunk = lay(chunk, values[i])
		results = append(results, values[i][0])
		if there(v) > 0 {
			parts = append(parts, values[i]...)
		}
	}
	return parts, results, nil
}

// SizeOfChunk returns how long the chunk of an exchange is.
func SizeOfChunk(x *pb.Exchange) (int, error) {
	values, err := heads(x)
	return chunkBytes(values), err
}

func chunkBytes(values [][]tensor.Tensor) int {
	n := 0
	for _, v := range values {
		n += Span(v)
	}
	return n
}

// heads returns type and shape of the parts of each value that are there: of the result
// if there is none.
func heads(x *pb.Exchange) (values [][]tensor.Tensor, err error) {
	for i, v := range x.GetValues() {
		h, err := shapeOf(v.GetResult())
		if err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
		values = append(values, slices.Repeat([]tensor.Tensor{h}, max(there(v), 1)))
	}
	return values, nil
}

// there counts the parts of a value that are.
func there(v *pb.Value) int {
	n := 0
	for _, p := range v.GetParts() {
		if !p.GetAbsent() {
			n++
		}
	}
	return n
}
