package onnx

import (
	"fmt"
)

// anyBatch stands for the length N of the batch in computations with shapes, and
// the integers behind it for 2*N, 3*N and so on. They may be moved around, and
// computed with where the result is such a multiple or does not depend on N; in
// integers of 32 bits they begin at anyBatch32.
const (
	anyBatch   = -1<<63 + 20221121
	anyBatch32 = -1<<31 + 20221121
	maxTimes   = 1 << 30 // the largest multiple
	maxTimes32 = 1 << 20
)

// batchTimes stands for times*N.
func batchTimes(times int64) int64 { return anyBatch + times - 1 }

// timesBatch returns how many times the length of the batch v stands for.
func timesBatch(v int64) (times int64, ok bool) {
	if v < anyBatch || v >= anyBatch+maxTimes {
		return 0, false
	}
	return v - anyBatch + 1, true
}

// printed writes a shape with N for the batch.
func printed(shape []int64) string {
	s := "["
	for i, n := range shape {
		if i > 0 {
			s += ","
		}
		if times, ok := timesBatch(n); ok && times == 1 {
			s += "N"
		} else if ok {
			s += fmt.Sprintf("%dN", times)
		} else {
			s += fmt.Sprint(n)
		}
	}
	return s + "]"
}
