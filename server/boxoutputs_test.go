package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"math"
	"slices"
	"strings"
	"testing"

	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
	"github.com/bnctl/bnctl/tensor"
)

// boxesOf is a response in JSON.
type boxesOf struct {
	Outputs []struct {
		Name  string    `json:"name"`
		Shape []int     `json:"shape"`
		Data  []float64 `json:"data"`
	} `json:"outputs"`
}

// pixelsOf returns a picture file as a row of the model's input.
func pixelsOf(t *testing.T, s *Server, file []byte) (tensor.Tensor, signature) {
	t.Helper()
	var meta modelMetadata
	if err := json.Unmarshal(ask(t, s, "GET", "/v2/models/m", nil).body, &meta); err != nil {
		t.Fatal(err)
	}
	p, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	b := p.Bounds()
	x := tensor.New(tensor.U8, 1, b.Dy(), b.Dx(), 3)
	for i := range b.Dx() * b.Dy() {
		r, g, blue, _ := p.At(i%b.Dx(), i/b.Dx()).RGBA()
		copy(x.Bytes[3*i:], []byte{byte(r >> 8), byte(g >> 8), byte(blue >> 8)})
	}
	return x, meta.Inputs[0]
}

// TestBoxesInAnInferenceRequest checks that an inference request, over HTTP and gRPC, gets the same boxes as
// a request to detect for a picture that has the size of the input. The boxes are padded to 300.
func TestBoxesInAnInferenceRequest(t *testing.T) {
	file := photo(t, 64, 64)
	s := start(t, on("ref", write(t, newDetector(t), "m.bnm")))
	var want detection
	r := ask(t, s, "POST", "/v2/models/m/detect?score=0.00001&overlap=0.5", file)
	if err := json.Unmarshal(r.body, &want); err != nil || len(want.Boxes) == 0 {
		t.Fatalf("%s: %v", r.body, err)
	}
	x, in := pixelsOf(t, s, file)
	if in.Datatype != "UINT8" || !slices.Equal(in.Shape, []int{-1, 64, 64, 3}) {
		t.Fatal(in)
	}
	numbers := strings.Join(strings.Fields(fmt.Sprint(x.Bytes)), ",")
	body := func(limits, outputs string) []byte {
		return fmt.Appendf(nil, `{"parameters":%s,"inputs":[{"name":%q,"datatype":"UINT8","shape":[1,64,64,3],
"data":%s}],"outputs":[%s]}`, limits, in.Name, numbers, outputs)
	}
	const all = `{"name":"boxes"},{"name":"count"},{"name":"scores"},{"name":"labels"}`
	var got boxesOf
	r = ask(t, s, "POST", "/v2/models/m/infer", body(`{"score":0.00001,"overlap":"0.5"}`, all))
	if err := json.Unmarshal(r.body, &got); err != nil || len(got.Outputs) != 4 {
		t.Fatalf("%d %.300s: %v", r.status, r.body, err)
	}
	boxes, count, scores, labels := got.Outputs[0], got.Outputs[1], got.Outputs[2], got.Outputs[3]
	if !slices.Equal(boxes.Shape, []int{1, 300, 4}) || !slices.Equal(labels.Shape, []int{1, 300}) ||
		int(count.Data[0]) != len(want.Boxes) {
		t.Fatalf("shapes %v, %v, count %v, want %d", boxes.Shape, labels.Shape, count.Data, len(want.Boxes))
	}
	for i := range 300 {
		if i >= len(want.Boxes) {
			if labels.Data[i] != -1 || scores.Data[i] != 0 || boxes.Data[4*i] != 0 {
				t.Fatalf("box %d is not empty", i)
			}
			continue
		}
		b := want.Boxes[i]
		if int(labels.Data[i]) != b.Index || float32(scores.Data[i]) != b.Score {
			t.Fatalf("box %d: %v %v, want %+v", i, labels.Data[i], scores.Data[i], b)
		}
		for c, v := range b.Corners {
			if float32(boxes.Data[4*i+c]) != float32(v) {
				t.Fatalf("box %d: %v, want %+v", i, boxes.Data[4*i:4*i+4], b)
			}
		}
	}
	m := &pb.ModelInferRequest{ModelName: "m", RawInputContents: [][]byte{x.Bytes},
		Inputs: []*pb.ModelInferRequest_InferInputTensor{{Name: in.Name, Datatype: in.Datatype,
			Shape: toInt64s(x.Shape)}},
		Outputs: []*pb.ModelInferRequest_InferRequestedOutputTensor{{Name: "scores"}, {Name: "count"}},
		Parameters: map[string]*pb.InferParameter{
			"score":   {ParameterChoice: &pb.InferParameter_DoubleParam{DoubleParam: 0.00001}},
			"overlap": {ParameterChoice: &pb.InferParameter_StringParam{StringParam: "0.5"}}}}
	a, err := pb.NewGRPCInferenceServiceClient(dial(t, s)).ModelInfer(t.Context(), m)
	if err != nil || len(a.RawOutputContents) != 2 || int(a.RawOutputContents[1][0]) != len(want.Boxes)&255 {
		t.Fatalf("%v, %v", a, err)
	}
	v, err := tensor.FromBytes(tensor.F32, []int{1, 300}, a.RawOutputContents[0])
	if err != nil || v.F32()[0] != want.Boxes[0].Score {
		t.Errorf("scores %v, %v over gRPC, want %v", v, err, want.Boxes[0].Score)
	}
	for _, c := range []struct {
		limits, outputs, want string
		status                int
	}{
		{`{"score":2}`, all, "score \\\"2\\\": want a number from 0 to 1", 400},
		{`{"overlap":"NaN"}`, all, "want a number from 0 to 1", 400},
		{`{"score":2}`, `{"name":"yolox"}`, `"name":"yolox"`, 200}, // this request ignores the parameter
		{`{}`, `{"name":"boxes","parameters":{"classification":2}}`, "not one number for each class", 400},
		{`{}`, `{"name":"boxes"},{"name":"boxes"}`, "is asked for twice", 400},
		{`{}`, `{"name":"masks"}`, "has no output", 400},
	} {
		r := ask(t, s, "POST", "/v2/models/m/infer", body(c.limits, c.outputs))
		if r.status != c.status || !strings.Contains(string(r.body), c.want) {
			t.Errorf("%s %s: %d %.200s, want %s", c.limits, c.outputs, r.status, r.body, c.want)
		}
	}
}

// TestNoBoxesInAnInferenceRequest checks that models that are not detectors do not have boxOutputs.
func TestNoBoxesInAnInferenceRequest(t *testing.T) {
	s := start(t, on("ref", write(t, newModel(t, 1), "m.bnm")))
	r := ask(t, s, "POST", "/v2/models/m/infer", []byte(`{"inputs":[{"name":"x","datatype":"UINT8",
"shape":[1,28,28,1],"data":[`+strings.Repeat("0,", 783)+`0]}],"outputs":[{"name":"boxes"}]}`))
	if r.status != 400 || !strings.Contains(string(r.body), `has no output`) {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// TestBoxesOfASickModelInAnInferenceRequest checks that outputs with NaN give an error instead of boxes.
func TestBoxesOfASickModelInAnInferenceRequest(t *testing.T) {
	m := newDetector(t)
	m.State["head.obj_preds.0.bias"].F32()[0] = float32(math.NaN())
	o := on("ref", write(t, m, "m.bnm"))
	o.AllowSick = true
	r := ask(t, start(t, o), "POST", "/v2/models/m/infer", []byte(`{"inputs":[{"name":"x","datatype":"UINT8",
"shape":[1,64,64,3],"data":[`+strings.Repeat("0,", 64*64*3-1)+`0]}],"outputs":[{"name":"boxes"}]}`))
	if r.status != 500 || !strings.Contains(string(r.body), "is not finite") {
		t.Errorf("%d %.200s", r.status, r.body)
	}
}
