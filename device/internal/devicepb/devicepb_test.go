package devicepb_test

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// TestOps ties the enum to graph's table of operations, both ways.
func TestOps(t *testing.T) {
	for n := range 1 << 16 {
		op := graph.Op(n)
		name, ok := pb.Op_name[int32(n)]
		if n == 0 {
			continue
		}
		if ok != op.Valid() {
			t.Errorf("operation %d: in the enum %v (%s), in the table %v (%v)", n, ok, name, op.Valid(), op)
		}
		if want := "OP_" + strings.ToUpper(op.String()); ok && name != want {
			t.Errorf("operation %d is %s in the enum, want %s", n, name, want)
		}
	}
}

// TestEnums ties the other enums to the numbers of their packages.
func TestEnums(t *testing.T) {
	for d := tensor.F32; d.Valid(); d++ {
		if got, want := pb.DType(d).String(), "DTYPE_"+strings.ToUpper(d.String()); got != want {
			t.Errorf("type %d is %s, want %s", d, got, want)
		}
	}
	for k := graph.Whole; k <= graph.Rows; k++ {
		if got, want := pb.Relation(k).String(), "RELATION_"+strings.ToUpper(k.String()); got != want {
			t.Errorf("kind of value %d is %s, want %s", k, got, want)
		}
	}
	for k := device.Invalid; k <= device.Unavailable; k++ {
		want := "KIND_" + strings.ToUpper(strings.ReplaceAll(k.Error(), " ", "_"))
		if got := pb.Kind(k).String(); got != want {
			t.Errorf("kind of error %d is %s, want %s", k, got, want)
		}
	}
	if pb.Reduction_REDUCTION_SUM != pb.Reduction(collective.Sum) ||
		pb.Reduction_REDUCTION_MERGE_MOMENTS != pb.Reduction(collective.MergeMoments) {
		t.Error("the reductions differ from package collective's")
	}
}
