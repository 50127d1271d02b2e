package onnx

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/tensor"
)

// takesPictures returns a model with an input of u8 of the given shape. The result of the
// last node is the output.
func takesPictures(opset int64, shape []int64, nodes ...*onnxpb.NodeProto) *onnxpb.ModelProto {
	m := modelOf(opset, 0, shape, nil, nodes...)
	m.Graph.Input[0].Type.TensorType.ElemType = int32(onnxpb.TensorProto_UINT8)
	return m
}

// castTo returns a Cast.
func castTo(in, out string, to onnxpb.TensorProto_DataType) *onnxpb.NodeProto {
	return op("Cast", in, out, intAttr("to", int(to)))
}

func toFloat(in, out string) *onnxpb.NodeProto { return castTo(in, out, onnxpb.TensorProto_FLOAT) }

func toCHW(in, out string) *onnxpb.NodeProto {
	return op("Transpose", in, out, list64("perm", 0, 3, 1, 2))
}

// pictureGraphs are graphs that convert pixels to numbers, and the graphs that they become.
// The arithmetic is a form of (x*scale - mean) / std.
var pictureGraphs = []struct {
	name  string
	shape []int64
	nodes nodes
	want  string
}{
	{"TensorFlow", []int64{5, 4, 3}, nodes{toFloat("x", "f"), floats("k", nil, 255), op("Div", "f k", "q"),
		toCHW("q", "y")}, "y = image(x)"},
	{"PyTorch", []int64{5, 4, 3}, nodes{toCHW("x", "t"), toFloat("t", "f"), floats("k", nil, 255),
		op("Div", "f k", "q"), floats("m", []int64{3, 1, 1}, .5, .25, .125), op("Sub", "q m", "s"),
		floats("d", []int64{1, 3, 1, 1}, .25, .5, 2), op("Div", "s d", "y")},
		"y = image(x, mean=[0.5,0.25,0.125], std=[0.25,0.5,2])"},
	{"a mean of pixels, channels last", []int64{5, 4, 3}, nodes{toFloat("x", "f"),
		floats("m", []int64{3}, 100, 110, 120), op("Sub", "f m", "s"), floats("d", []int64{1, 1, 3}, .5, .25, .125),
		op("Mul", "s d", "p"), toCHW("p", "y")}, "y = image(x, mean=[100,110,120], scale=1, std=[2,4,8])"},
	{"-1 to 1", []int64{5, 4, 3}, nodes{toFloat("x", "f"), floats("k", []int64{1}, .0078125), op("Mul", "k f",
		"p"),
		floats("o", []int64{1, 1, 1, 1}, -1), op("Add", "o p", "a"), toCHW("a", "y")},
		"y = image(x, mean=[1,1,1], scale=0.0078125)"},
	// ((x - 128) / 64 + 1) * 4 = (x - 64) / 16
	{"after each other", []int64{5, 4, 1}, nodes{toFloat("x", "f"), floats("a", nil, 128), floats("b", nil, 64),
		floats("c", nil, 1), floats("d", nil, 4), op("Sub", "f a", "g"), op("Div", "g b", "h"), op("Add", "h c",
			"i"),
		op("Mul", "i d", "j"), toCHW("j", "y")}, "y = image(x, mean=[64], scale=1, std=[16])"},
	{"BGR of bytes", []int64{5, 4, 3}, nodes{ints("i", 2, 1, 0), op("Gather", "x i", "b", intAttr("axis", -1)),
		toFloat("b", "f"), floats("m", []int64{3}, 1, 2, 3), op("Sub", "f m", "s"), toCHW("s", "y")},
		"y = image(x, bgr=true, mean=[1,2,3], scale=1)"},
	{"BGR of numbers", []int64{5, 4, 3}, nodes{toFloat("x", "f"), floats("m", []int64{3}, 1, 2, 3),
		op("Sub", "f m", "s"), toCHW("s", "t"), ints("b", -1), ints("e", -1<<62), ints("a", 1), ints("p", -1),
		op("Slice", "t b e a p", "y")}, "y = image(x, bgr=true, mean=[3,2,1], scale=1)"},
	{"channels first", []int64{3, 5, 4}, nodes{toFloat("x", "f"), floats("k", nil, 2), op("Div", "f k", "y")},
		"x rows u8[5,4,3]) {\n  y = image(x, scale=0.5)"},
	{"channels last to the end", []int64{5, 4, 3}, nodes{toFloat("x", "f"), floats("k", nil, 2), op("Div",
		"f k", "y")},
		"image(x, scale=0.5)\n  y = transpose(y.image, perm=[1,2,0])"},
	{"in halves", []int64{5, 4, 3}, nodes{op("Identity", "x", "n"), castTo("n", "h", onnxpb.TensorProto_FLOAT16),
		toFloat("h", "f"), toCHW("f", "y")}, "y = image(x, scale=1)"},
	// Arithmetic other than (x*scale - mean) / std stays an operation.
	{"from a constant", []int64{5, 4, 3}, nodes{toFloat("x", "f"), toCHW("f", "t"), floats("k", nil, 255),
		op("Sub", "k t", "y")}, "t = image(x, scale=1)\n"},
	{"negative", []int64{5, 4, 3}, nodes{toFloat("x", "f"), toCHW("f", "t"), floats("k", nil, -1),
		op("Mul", "k t", "y")}, "t = image(x, scale=1)\n"},
	{"by pixel", []int64{1, 2, 3}, nodes{toFloat("x", "f"), toCHW("f", "t"), floats("k", []int64{1, 2}, 3, 4),
		op("Sub", "t k", "y")}, "t = image(x, scale=1)\n"},
	{"grey becomes three", []int64{5, 4, 1}, nodes{toFloat("x", "f"), floats("k", []int64{3}, 1, 2, 3),
		op("Mul", "f k", "y")}, "f = transpose(f.image, perm=[1,2,0])\n"},
	{"an output on the way", []int64{5, 4, 3}, nodes{toFloat("x", "f"), toCHW("f", "out"), floats("k", nil, 2),
		op("Div", "out k", "y")}, "out = image(x, scale=1)\n"},
	{"its shape is asked for", []int64{5, 4, 3}, nodes{toFloat("x", "f"), toCHW("f", "t"), op("Shape", "x", "s"),
		ints("i", 0), op("Gather", "s i", "n"), ints("r", -1), op("Concat", "n r", "to", intAttr("axis", 0)),
		op("Reshape", "t to", "y")}, "t = image(x, scale=1)\n  y = reshape(t, shape=[60])"},
}

// types matches the comments with types that follow the nodes of a graph in text form.
var types = regexp.MustCompile(`  # .*\n`)

// TestPictures: the arithmetic of a graph on u8 pixels becomes the operation image where
// possible.
func TestPictures(t *testing.T) {
	for _, c := range pictureGraphs {
		m := takesPictures(13, c.shape, c.nodes...)
		if strings.Contains(c.name, "on the way") {
			m.Graph.Output = append(m.Graph.Output, &onnxpb.ValueInfoProto{Name: "out"})
		}
		f := readModel(t, m)
		if got := types.ReplaceAllString(became(f), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
		if f.Model != nil && !f.Model.Preprocess.Known {
			t.Errorf("%s: the preprocessing is not known", c.name)
		}
	}
}

// TestNormalisesItself: for a graph with an input of floats a note describes its
// normalisation and the pixels that it expects.
func TestNormalisesItself(t *testing.T) {
	for _, c := range []struct {
		name, want string
		shape      []int64
		nodes      nodes
	}{
		{"x/255", "the graph itself normalises it: x/255; say {preprocess} raw", []int64{5, 4, 3},
			nodes{floats("k", nil, 255), op("Div", "x k", "q"), toCHW("q", "y")}},
		{"2x - 1", "the graph itself normalises it: x*2 - 1,1,1; say {preprocess} unit", []int64{3, 5, 4},
			nodes{floats("k", nil, 2), op("Mul", "x k", "q"), floats("o", nil, 1), op("Sub", "q o", "y")}},
		{"Caffe's", "the graph itself normalises it: x - 104,117,124; say {preprocess} raw", []int64{3, 5, 4},
			nodes{floats("k", []int64{3, 1, 1}, 104, 117, 124), op("Sub", "x k", "y")}},
		{"ImageNet's", "(x - 0.5,0.25,0.5) / 0.25,0.25,0.5; say {preprocess} unit", []int64{3, 5, 4},
			nodes{floats("k", []int64{3, 1, 1}, .5, .25, .5), op("Sub", "x k", "s"),
				floats("d", []int64{3, 1, 1}, .25, .25, .5), op("Div", "s d", "y")}},
		{"nothing", "", []int64{5, 4, 3}, nodes{toCHW("x", "t"), op("Relu", "t", "y")}},
	} {
		got := ""
		f := readModel(t, modelOf(13, 0, c.shape, nil, c.nodes...))
		for _, n := range f.Findings {
			got += n.Text + "; " + n.Advice
		}
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if f.Model == nil || f.Model.Input().DType != tensor.F32 {
			t.Errorf("%s: %s", c.name, became(f))
		}
	}
}

// TestPeerPictures compares the results for pixels of every value with those of ONNX
// Runtime, to within its rounding.
func TestPeerPictures(t *testing.T) {
	needPeers(t)
	for _, c := range pictureGraphs {
		m := takesPictures(13, c.shape, c.nodes...)
		m.Graph.Output[0].Type = &onnxpb.TypeProto{TensorType: &onnxpb.TypeProto_Tensor{
			ElemType: int32(onnxpb.TensorProto_FLOAT)}}
		b, err := proto.Marshal(m)
		path := filepath.Join(t.TempDir(), "m.onnx")
		if err == nil {
			err = os.WriteFile(path, b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		model := readModel(t, m).Model
		x := ramp(model, 3)
		got, err := eval(model, x)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if c.shape[0] == 3 { // the file has the channels first
			x = channelsFirst(x)
		}
		want := ort(t, path, x)["y"]
		size := 1.0
		for _, v := range want.F32() {
			size = max(size, math.Abs(float64(v)))
		}
		if d := worst(got[0], want) / size; !(d <= 1e-6) {
			t.Errorf("%s differs by %g", c.name, d)
		}
	}
}

// channelsFirst turns pictures [N,H,W,C] to [N,C,H,W].
func channelsFirst(x tensor.Tensor) tensor.Tensor {
	s := x.Shape
	out := tensor.New(tensor.U8, s[0], s[3], s[1], s[2])
	pixels := s[1] * s[2]
	for i := range s[0] * pixels * s[3] {
		n, rest := i/(pixels*s[3]), i%(pixels*s[3])
		out.U8()[n*pixels*s[3]+rest%s[3]*pixels+rest/s[3]] = x.U8()[i]
	}
	return out
}

// TestInputAndNodesRefused: a fault of the input does not hide the faults of nodes.
func TestInputAndNodesRefused(t *testing.T) {
	open := modelOf(13, 0, []int64{3, 0, 0}, nil, op("Relu", "x", "a"), op("LSTM", "a", "b"), op("LSTM",
		"b", "c"),
		op("Softmax", "c", "y", intAttr("unheard", 1)))
	for got, want := range map[string][]string{
		became(readModel(t, open)): {`input "x": its size [3,?,?] is open; say it with input 3,224,224; `,
			"operators that are not supported: LSTM (2)", "node 3 (Softmax y): has an attribute \"unheard\""},
	} {
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s\nwant %s", got, w)
			}
		}
	}
}
