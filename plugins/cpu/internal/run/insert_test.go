package run

import (
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// Values are stored among the channels of a larger value only within the range of 32-bit offsets.
// Otherwise, results from 2 GiB on would be written before the beginning of their row.
func TestJoinedUpTo2GiB(t *testing.T) {
	for channels, want := range map[int]bool{8191: true, 8192: false, 16385: false} {
		v := NewValue(graph.Variable{Type: graph.Type{Kind: graph.Rows, DType: tensor.F32,
			Shape: []int{channels, 256, 256}}})
		l := &placer{linker: &Linker{machine: &Machine{}},
			fn: &Function{graph: &graph.Function{}, values: []*Value{v}}}
		if got := l.joins(0); got != want {
			t.Errorf("a row of %d bytes joins others: %v, want %v", v.size(), got, want)
		}
	}
}
