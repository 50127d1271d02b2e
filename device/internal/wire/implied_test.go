package wire

import (
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/graph"
)

// TestAddedAttributesAreSentWhereTheySaySomething checks that an attribute that was added later
// is sent only if it has an effect, because older devices refuse nodes with this attribute.
func TestAddedAttributesAreSentWhereTheySaySomething(t *testing.T) {
	for _, c := range []struct {
		op    graph.Op
		attrs graph.Attrs
		key   string
		sent  bool
	}{
		{graph.Dense, nil, "leading", false},
		{graph.Dense, graph.Attrs{}.With("leading", int64(2)), "leading", true},
		{graph.DenseGradInput, nil, "leading", false},
		{graph.DenseGradWeight, nil, "leading", false},
		{graph.SoftmaxXent, nil, "weighted_targets", false},
		{graph.SoftmaxXent, graph.Attrs{}.With("weighted_targets", true), "weighted_targets", true},
		{graph.SoftmaxXentGrad, nil, "weighted_targets", false},
		{graph.SoftmaxXentGrad, nil, "smoothing", true}, // the first devices had this attribute: always sent
	} {
		n := encodeNode(&graph.Node{Op: c.op, Attrs: c.attrs})
		has := slices.ContainsFunc(n.Attributes, func(a *devicepb.Attribute) bool { return a.Key == c.key })
		if has != c.sent {
			t.Errorf("%v %v: %s is sent: %t, want %t", c.op, c.attrs, c.key, has, c.sent)
		}
	}
}
