package element

import (
	"fmt"
	"slices"

	"github.com/bnctl/bnctl/tensor"
)

// AnyBatch represents the length N of the batch in computations with shapes. The integers
// above it represent 2*N, 3*N and so on. Nodes may move these integers. They may compute
// with them if the result is a multiple of N, or does not depend on N. In integers of 32
// bits they begin at anyBatch32.
const (
	AnyBatch   = -1<<63 + 20221121
	anyBatch32 = -1<<31 + 20221121
	MaxTimes   = 1 << 30 // largest factor of N
	MaxTimes32 = 1 << 20
)

// BatchTimes returns the integer that represents times*N.
func BatchTimes(times int64) int64 { return AnyBatch + times - 1 }

// TimesBatch returns the factor of N that v represents.
func TimesBatch(v int64) (times int64, ok bool) {
	if v < AnyBatch || v >= AnyBatch+MaxTimes {
		return 0, false
	}
	return v - AnyBatch + 1, true
}

// HoldsBatch reports whether integers contain the length of the batch or a multiple of it.
func HoldsBatch(t tensor.Tensor) bool {
	switch t.DType {
	case tensor.I64:
		return slices.ContainsFunc(t.I64(), func(v int64) bool { _, is := TimesBatch(v); return is })
	case tensor.I32:
		return slices.ContainsFunc(t.I32(), func(v int32) bool {
			return v >= anyBatch32 && v < anyBatch32+MaxTimes32
		})
	}
	return false
}

// Printed formats a shape, with N for the batch.
func Printed(shape []int64) string {
	s := "["
	for i, n := range shape {
		if i > 0 {
			s += ","
		}
		if times, ok := TimesBatch(n); ok && times == 1 {
			s += "N"
		} else if ok {
			s += fmt.Sprintf("%dN", times)
		} else {
			s += fmt.Sprint(n)
		}
	}
	return s + "]"
}
