package models

import (
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

const int8Graph = `bnctl graph 1
graph "g"
state w i8[2,3] weight
state b i32[2] bias
state by f32[2] constant
func main(x rows f32[3]) {
	q = quantize(x, scale=0.5)
	y = dense_int8(q, @w, @b, @by, float=true)
	return logits rows = y
}
`

// Invalid values in an int8 template are refused on reading, with the channel.
func TestInt8Numbers(t *testing.T) {
	g, err := graph.ParseGraph([]byte(int8Graph))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		bias int32
		by   float32
		want string
	}{
		{graph.MostBias, 0.25, ""}, {-graph.MostBias, 0x1p-126, ""},
		{graph.MostBias + 1, 0.25, "b of channel 1 is 1073741825, want at most 2^30 either way"},
		{math.MinInt32, 0.25, "b of channel 1 is -2147483648"}, {0, 0, "by of channel 1 is 0, want 2^-126"},
		{0, -1, "by of channel 1 is -1"}, {0, 1e-40, "by of channel 1 is 1e-40"},
		{0, float32(math.Inf(1)), "by of channel 1 is +Inf"}, {0, float32(math.NaN()), "by of channel 1 is NaN"},
	} {
		m := &Model{Architecture: "g", Graph: g, State: map[string]tensor.Tensor{
			"w": tensor.New(tensor.I8, 2, 3), "b": tensor.Of([]int32{5, c.bias}, 2),
			"by": tensor.Of([]float32{1, c.by}, 2)}}
		err := m.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("bias %d, by %g: %v, want %q", c.bias, c.by, err, c.want)
		}
		if !m.Int8() || m.Trainable("model", "q.bnm") == nil {
			t.Error("it is no int8 template, or can be trained")
		}
	}
	for _, q := range []Quantised{{From: "ab"}, {From: strings.Repeat("a", 64), Samples: -1},
		{From: strings.Repeat("a", 64), By: strings.Repeat("b", 65)}} {
		if q.Check() == nil {
			t.Errorf("%v is right", q)
		}
	}
}
