package wire

import (
	"fmt"
	"slices"

	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/tensor"
)

// InChunk returns the present partial values and the results of an exchange as views of a
// chunk (device.proto). The result of a value shares the memory of its first partial value.
// The length of the chunk must be the result of SizeOfChunk.
func InChunk(chunk []byte, x *pb.Exchange) (partials, results []tensor.Tensor, err error) {
	values, err := allHeaders(x)
	if err != nil {
		return nil, nil, err
	}
	if n := Bytes(slices.Concat(values...)); n > int64(len(chunk)) || chunkBytes(values) != len(chunk) {
		return nil, nil, fmt.Errorf("a chunk of %d bytes for values of %d", len(chunk), n)
	}
	for i, v := range x.GetValues() {
		chunk = assignMemory(chunk, values[i])
		results = append(results, values[i][0])
		if countPresent(v) > 0 {
			partials = append(partials, values[i]...)
		}
	}
	return partials, results, nil
}

// SizeOfChunk returns the length of the chunk of an exchange.
func SizeOfChunk(x *pb.Exchange) (int, error) {
	values, err := allHeaders(x)
	return chunkBytes(values), err
}

func chunkBytes(values [][]tensor.Tensor) int {
	n := 0
	for _, v := range values {
		n += Span(v)
	}
	return n
}

// allHeaders returns, for each value, the types and shapes of its present partial values,
// or the type and shape of the result if it has no partial values.
func allHeaders(x *pb.Exchange) (values [][]tensor.Tensor, err error) {
	for i, v := range x.GetValues() {
		h, err := shapeOf(v.GetResult())
		if err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
		values = append(values, slices.Repeat([]tensor.Tensor{h}, max(countPresent(v), 1)))
	}
	return values, nil
}

// countPresent returns the number of present partial values.
func countPresent(v *pb.Value) int {
	n := 0
	for _, p := range v.GetParts() {
		if !p.GetAbsent() {
			n++
		}
	}
	return n
}
