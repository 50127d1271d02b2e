package onnx

import (
	"context"
	"math"
	"testing"

	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// inFloat32 returns a device's result of a model for one sample, in float32, unlike eval.
func inFloat32(t *testing.T, m *onnxpb.ModelProto, x []float32) []float32 {
	t.Helper()
	f := readModel(t, m)
	if f.NoModel != nil {
		t.Fatal(f.NoModel)
	}
	ctx := context.Background()
	p, err := predict.Open(ctx, f.Model, predict.Options{Fleet: fleet.Options{Devices: "ref"}, Batch: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	out, err := p.Predict(ctx, tensor.Of(x, append([]int{1}, f.Model.Input().Shape...)...))
	if err != nil {
		t.Fatal(err)
	}
	return out[0].F32()
}

// TestNormsOfLargeValues: norms do not overflow before their result does. The values are those of
// NumPy in float64.
func TestNormsOfLargeValues(t *testing.T) {
	x := []float32{3, -4, 12, 84}
	two := settings{intAttr("p", 2), list64("kernel_shape", 2), list64("strides", 2)}
	three := settings{intAttr("p", 3), list64("kernel_shape", 2), list64("strides", 2)}
	of := func(name string, at ...*onnxpb.AttributeProto) *onnxpb.NodeProto { return op(name, "x", "y", at...) }
	for _, c := range []struct {
		name string
		node *onnxpb.NodeProto
		p    float64 // the result grows with the values to this power
		want []float64
	}{
		{"ReduceL2", of("ReduceL2", list64("axes", 2)), 1, []float64{math.Sqrt(7225)}},
		{"LpNormalization", of("LpNormalization"), 0, []float64{3. / 85, -4. / 85, 12. / 85, 84. / 85}},
		{"GlobalLpPool", of("GlobalLpPool"), 1, []float64{85}},
		{"GlobalLpPool of 3", of("GlobalLpPool", intAttr("p", 3)), 1, []float64{84.08584383682886}},
		{"GlobalLpPool of 12", of("GlobalLpPool", intAttr("p", 12)), 1, []float64{84.00000000050571}},
		{"LpPool", of("LpPool", two...), 1, []float64{5, math.Sqrt(7200)}},
		{"LpPool of 3", of("LpPool", three...), 1, []float64{4.497941445275415, 84.08155344928136}},
		{"MeanVarianceNormalization", of("MeanVarianceNormalization", list64("axes", 2)), 0,
			[]float64{-0.58874133, -0.78735286, -0.33338364, 1.70947783}},
	} {
		for _, scale := range []float64{1e-3, 1, 1e10, 1e17, 1e18, 1e19, 1e20, 1e25, 1e30, 1e36, 3.9e36} {
			large := make([]float32, len(x))
			for i, v := range x {
				large[i] = float32(float64(v) * scale)
			}
			got := inFloat32(t, modelOf(13, 0, []int64{1, 4}, nil, c.node), large)
			for i, v := range c.want {
				want := v * math.Pow(scale, c.p)
				if len(got) != len(c.want) || !(math.Abs(float64(got[i])-want) <= 3e-6*math.Abs(want)) {
					t.Errorf("%s of values near %g: %v, want %v times %g", c.name, scale, got, c.want, scale)
					break
				}
			}
		}
	}
}
