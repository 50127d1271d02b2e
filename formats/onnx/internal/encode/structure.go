package encode

import (
	"math"
	"slices"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

func encodeConcat(e *encoding) { e.is("Concat", onnxpb.IntAttr("axis", e.n.Int("axis")+1)) }

func encodeSlice(e *encoding) {
	begin, end, step := e.n.Ints("begin"), e.n.Ints("end"), e.n.SliceStep()
	axes := make([]int, len(begin))
	for i := range axes {
		axes[i] = i + 1
	}
	e.in = append(e.in, e.ints(e.out+".begin", begin...), e.ints(e.out+".end", end...),
		e.ints(e.out+".axes", axes...), e.ints(e.out+".step", step...))
	e.is("Slice")
}

func encodeTake(e *encoding) {
	e.in = append(e.in, e.ints(e.out+".index", e.n.Ints("index")...))
	e.is("Gather", onnxpb.IntAttr("axis", e.n.Int("axis")+1))
}

func encodePad(e *encoding) {
	pads := slices.Concat([]int{0}, e.n.Ints("before"), []int{0}, e.n.Ints("after"))
	e.in = append(e.in, e.ints(e.out+".pads", pads...), e.scalar(e.out+".value", e.n.Float("value")))
	e.is("Pad")
}

func encodeReshape(e *encoding) {
	e.in = append(e.in, e.ints(e.out+".shape", append([]int{0}, e.result()...)...))
	e.is("Reshape")
}

func encodeTranspose(e *encoding) {
	perm := []int{0}
	for _, a := range e.n.Ints("perm") {
		perm = append(perm, a+1)
	}
	e.is("Transpose", onnxpb.IntsAttr("perm", perm...))
}

// encodeUpsample writes scales, because sizes would fix the length of the batch.
func encodeUpsample(e *encoding) {
	from, to := e.shape(0)[1:], e.result()[1:]
	scales := []float32{1, 1, scale(from[0], to[0]), scale(from[1], to[1])}
	mode, coordinates, rounding := "nearest", "asymmetric", "floor"
	if e.n.Text("mode") == "bilinear" {
		mode, coordinates, rounding = "linear", "half_pixel", "round_prefer_floor"
		if e.n.Bool("align_corners") {
			coordinates = "align_corners"
		}
	} else if to[0]%from[0] != 0 || to[1]%from[1] != 0 {
		e.fail("node %s: nearest from %v to %v, which is no whole factor, is not written", e.out, from, to)
	}
	e.in = append(e.in, "", e.initializer(e.takenNames.Free(e.out+".scales"), tensor.Of(scales, 4)))
	e.is("Resize", onnxpb.TextAttr("mode", mode), onnxpb.TextAttr("coordinate_transformation_mode", coordinates),
		onnxpb.TextAttr("nearest_mode", rounding))
}

// scale returns a factor s such that floor(n*s) is m, in f32 and in f64.
func scale(n, m int) float32 {
	s := float32(m) / float32(n)
	for int(float32(n)*s) < m || int(float64(n)*float64(s)) < m {
		s = math.Nextafter32(s, math.MaxFloat32)
	}
	return s
}

// encodeDropout writes a dropout. ONNX has no operator that drops whole samples.
func encodeDropout(e *encoding) {
	if e.n.Text("each") == "sample" {
		e.is("Identity")
		return
	}
	e.in = append(e.in, e.scalar(e.out+".ratio", e.n.Float("p")))
	e.is("Dropout")
}
