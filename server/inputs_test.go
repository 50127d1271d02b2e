package server

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
	"github.com/bnctl/bnctl/tensor"
)

// product returns a model of two inputs, a, f32[2,2], and rate, a whole number. It returns their product.
func product(t *testing.T) *models.Model {
	t.Helper()
	g, err := graph.ParseGraph([]byte(`bnctl graph 1
graph "product"

func main(inputs rows f32[5]) {
  a.flat = slice(inputs, begin=[0], end=[4])
  a = reshape(a.flat, shape=[2,2])
  rate = slice(inputs, begin=[4], end=[5])
  y = mul(a, rate)
  return y rows = y
}
`))
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New(g)
	if err != nil {
		t.Fatal(err)
	}
	m.Fields = []models.Field{{Name: "a", DType: tensor.F32, Shape: []int{2, 2}}, {Name: "rate", DType: tensor.I64}}
	return m
}

// TestSeveralInputs checks that the metadata lists all inputs of a model, and that a request must contain
// each of them.
func TestSeveralInputs(t *testing.T) {
	s := start(t, on("ref", write(t, product(t), "product.bnm")))
	var meta modelMetadata
	if err := json.Unmarshal(ask(t, s, "GET", "/v2/models/product", nil).body, &meta); err != nil {
		t.Fatal(err)
	}
	if got := meta.Inputs; len(got) != 2 || got[0].String() != "a, FP32 of shape [-1 2 2]" ||
		got[1].String() != "rate, INT64 of shape [-1]" {
		t.Errorf("inputs %v", got)
	}
	if got := string(ask(t, s, "GET", "/v2/models/product/config", nil).body); !strings.Contains(got,
		`{"name":"rate","data_type":"TYPE_INT64","dims":[]}`) {
		t.Errorf("configuration %s", got)
	}
	var kind predictionKind
	if err := json.Unmarshal(ask(t, s, "GET", "/v2/models/product/predict", nil).body, &kind); err != nil ||
		!slices.EqualFunc(kind.Inputs, meta.Inputs, func(a, b signature) bool { return a.String() == b.String() }) {
		t.Errorf("inputs of the kind %v, %v, want %v", kind.Inputs, err, meta.Inputs)
	}
	const rate = `{"name":"rate","datatype":"INT64","shape":[2],"data":[3,-1]}`
	const a = `{"name":"a","datatype":"FP32","shape":[2,2,2],"data":[1,2,3,4,5,6,7,8]}`
	got := infer(t, s, a, rate)
	var answer struct{ Outputs []struct{ Data []float32 } }
	if err := json.Unmarshal(got.body, &answer); err != nil || got.status != http.StatusOK ||
		!slices.Equal(answer.Outputs[0].Data, []float32{3, 6, 9, 12, -5, -6, -7, -8}) {
		t.Errorf("%d %s, %v", got.status, got.body, err)
	}
	if other := infer(t, s, rate, a); string(other.body) != string(got.body) {
		t.Errorf("in another order: %s, want %s", other.body, got.body)
	}
	for _, c := range []struct {
		inputs []string
		want   string
	}{
		{[]string{a}, `the request has 1 input, and input \"rate\" is missing; model product takes a, FP32 of ` +
			`shape [-1 2 2], rate, INT64 of shape [-1]`},
		{nil, `input \"a\" is missing`},
		{[]string{a, rate, a}, `input \"a\" is given twice`},
		{[]string{a, strings.Replace(rate, "rate", "x", 1)}, `there is no input \"x\"`},
		{[]string{a, strings.Replace(rate, "INT64", "FP32", 1)}, `input \"rate\": datatype \"FP32\"`},
		{[]string{a, strings.Replace(rate, "[2]", "[2,1]", 1)}, `input \"rate\": shape [2 1]`},
		{[]string{a, `{"name":"rate","datatype":"INT64","shape":[1],"data":[3]}`},
			`input \"rate\" has 1 row, and input \"a\" has 2`},
		{[]string{a, strings.Replace(rate, "-1", "16777217", 1)}, `beyond float32`},
	} {
		if got := infer(t, s, c.inputs...); got.status != http.StatusBadRequest ||
			!strings.Contains(string(got.body), c.want) {
			t.Errorf("%v: %d %s, want %s", c.inputs, got.status, got.body, c.want)
		}
	}
	raw := ask(t, s, "POST", "/v2/models/product/infer", make([]byte, 20), jsonLength, "0")
	if raw.status != http.StatusBadRequest || !strings.Contains(string(raw.body), "has 2 inputs") {
		t.Errorf("a body of elements: %d %s", raw.status, raw.body)
	}
}

// TestSeveralInputsByGRPC checks metadata and requests with several inputs over gRPC, as raw bytes and as
// numbers.
func TestSeveralInputsByGRPC(t *testing.T) {
	s := start(t, on("ref", write(t, product(t), "product.bnm")))
	client := pb.NewGRPCInferenceServiceClient(dial(t, s))
	meta, err := client.ModelMetadata(t.Context(), &pb.ModelMetadataRequest{Name: "product"})
	if err != nil || len(meta.Inputs) != 2 || meta.Inputs[1].Name != "rate" ||
		meta.Inputs[1].Datatype != "INT64" {
		t.Errorf("inputs %v, %v", meta.GetInputs(), err)
	}
	a := &pb.ModelInferRequest_InferInputTensor{Name: "a", Datatype: "FP32", Shape: []int64{2, 2, 2}}
	rate := &pb.ModelInferRequest_InferInputTensor{Name: "rate", Datatype: "INT64", Shape: []int64{2}}
	elements, rates := []float32{1, 2, 3, 4, 5, 6, 7, 8}, []int64{3, -1}
	raw := &pb.ModelInferRequest{ModelName: "product",
		Inputs:           []*pb.ModelInferRequest_InferInputTensor{rate, a},
		RawInputContents: [][]byte{tensor.Of(rates, 2).Bytes, tensor.Of(elements, 8).Bytes}}
	numbers := proto.CloneOf(raw)
	numbers.RawInputContents = nil
	numbers.Inputs[0].Contents = &pb.InferTensorContents{Int64Contents: rates}
	numbers.Inputs[1].Contents = &pb.InferTensorContents{Fp32Contents: elements}
	want := tensor.Of([]float32{3, 6, 9, 12, -5, -6, -7, -8}, 8).Bytes
	for _, in := range []*pb.ModelInferRequest{raw, numbers} {
		out, err := client.ModelInfer(t.Context(), in)
		if err != nil || len(out.RawOutputContents) != 1 || !slices.Equal(out.RawOutputContents[0], want) {
			t.Errorf("%v: %v, %v", in, out, err)
		}
	}
	raw.Inputs, raw.RawInputContents = raw.Inputs[:1], raw.RawInputContents[:1]
	if _, err := client.ModelInfer(t.Context(), raw); status.Code(err) != codes.InvalidArgument ||
		!strings.Contains(err.Error(), `input "a" is missing`) {
		t.Errorf("one input: %v", err)
	}
}

// infer sends the model product an inference request with inputs in JSON.
func infer(t *testing.T, s *Server, inputs ...string) reply {
	t.Helper()
	return ask(t, s, "POST", "/v2/models/product/infer", []byte(`{"inputs":[`+strings.Join(inputs, ",")+`]}`))
}
