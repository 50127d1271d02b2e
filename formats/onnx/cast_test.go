package onnx

import (
	"testing"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
)

// TestOtherFloats: computations of the file in floats other than f32 are reported, once for
// each type.
func TestOtherFloats(t *testing.T) {
	half, double := int(onnxpb.TensorProto_FLOAT16), int(onnxpb.TensorProto_DOUBLE)
	for _, c := range []struct {
		nodes nodes
		want  []string
	}{
		{nodes{castTo("x", "y", onnxpb.TensorProto_FLOAT)}, nil},
		{nodes{op("Cast", "x", "h", intAttr("to", half)), op("Exp", "h", "e"), toFloat("e", "y")},
			[]string{"h: a Cast to f16; here what follows is computed in f32, and not rounded"}},
		{nodes{op("Cast", "x", "h", intAttr("to", half)), op("Exp", "h", "e"), op("Cast", "e", "g", intAttr("to", half)),
			op("Cast", "g", "d", intAttr("to", double)), toFloat("d", "y")},
			[]string{"d: a Cast to f64; here what follows is computed in f32",
				"h: this and 1 other node are a Cast to f16; here what follows is computed in f32, and not rounded"}},
		{nodes{wholes("like", onnxpb.TensorProto_FLOAT16, []int64{1}, 1), op("CastLike", "x like", "h"), toFloat("h", "y")},
			[]string{"h: a Cast to f16; here what follows is computed in f32, and not rounded"}},
		{nodes{op("Greater", "x k", "b"), op("Cast", "b", "h", intAttr("to", half)), toFloat("h", "y")}, nil},
	} {
		f := readModel(t, modelOf(17, 0, []int64{3}, map[string][]float32{"k": {1}}, c.nodes...))
		if f.NoModel != nil {
			t.Fatal(f.NoModel)
		}
		var got []string
		for _, x := range f.Findings {
			got = append(got, x.Where+": "+x.Text)
		}
		if len(got) != len(c.want) {
			t.Fatalf("%q, want %q", got, c.want)
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%q, want %q", got[i], c.want[i])
			}
		}
	}
}
