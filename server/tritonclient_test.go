package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	pb "github.com/bnctl/bnctl/server/internal/inferencepb"
	"github.com/bnctl/bnctl/server/internal/protocol"
	"github.com/bnctl/bnctl/tensor"
)

// asItIs is a codec that sends bytes unchanged as a message.
type asItIs struct{ encoding.CodecV2 }

func (asItIs) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (asItIs) Unmarshal(from mem.BufferSlice, to any) error {
	if to, ok := to.(*[]byte); ok {
		*to = from.Materialize()
	}
	return nil
}

func (asItIs) Name() string { return "proto" }

// recordedRequest describes a request that was recorded from tritonclient. A request with 0 rows is
// not an inference.
type recordedRequest struct {
	rows          int
	json, classes bool
	refused       bool // the answer is 501 or UNIMPLEMENTED
}

// ofTritonClient are the requests of testdata/tritonclient by name. They were
// recorded by record.py there from NVIDIA's tritonclient for Python at release
// 26.04 (with geventhttpclient 2.0.8 and grpcio 1.51.1).
var ofTritonClient = map[string]recordedRequest{
	"live": {}, "ready": {}, "model-ready": {}, "metadata": {}, "model-metadata": {}, "config": {}, "index": {},
	"load": {refused: true}, "unload": {refused: true}, "shared-memory": {refused: true},
	"infer": {rows: 3}, "infer-json": {rows: 1, json: true}, "infer-version": {rows: 2},
	"infer-all-outputs": {rows: 2}, "infer-gzip": {rows: 3}, "infer-deflate": {rows: 3},
	"classes": {rows: 2, classes: true}, "sequence": {refused: true},
}

// rampOf returns the pixels that record.py sends.
func rampOf(rows int) tensor.Tensor {
	x := tensor.New(tensor.U8, rows, 28, 28, 1)
	for i := range x.Bytes {
		x.Bytes[i] = byte(i % 251)
	}
	return x
}

// TestTritonClient checks that the server answers requests recorded from Triton's client with the same bits
// as package predict.
func TestTritonClient(t *testing.T) {
	m := newModel(t, 1)
	s, p := start(t, on("ref", write(t, m, "m.bnm"))), predictor(t, m, "ref")
	c := dial(t, s)
	files, err := filepath.Glob("testdata/tritonclient/*.*")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		name, ending, _ := strings.Cut(filepath.Base(file), ".")
		r, known := ofTritonClient[name]
		request, err := os.ReadFile(file)
		if err != nil || !known && ending != "py" {
			t.Fatal(file, err)
		}
		var want, got []byte
		if r.rows > 0 {
			want = predicted(t, p, rampOf(r.rows))
		}
		if r.classes {
			want = bestOf(m, want)
		}
		switch method, overGRPC := strings.CutSuffix(ending, ".pb"); {
		case overGRPC:
			got = tritonCall(t, c, method, request, r)
		case ending == "http":
			got = tritonPost(t, s, name, request, r)
		default:
			continue
		}
		n++
		if !bytes.Equal(got, want) {
			t.Errorf("%s: other bits", file)
		}
	}
	if n != 34 {
		t.Errorf("%d requests were recorded, want 34", n)
	}
}

// bestOf returns the three best classes of each row of logits, as bytes.
func bestOf(m *models.Model, logits []byte) []byte {
	best := protocol.Tensor{Datatype: protocol.Bytes}
	x := tensor.Tensor{DType: tensor.F32, Shape: []int{len(logits) / 40, 10}, Bytes: logits}
	for i := range x.Shape[0] {
		best.Strings = append(best.Strings, protocol.Best(x.Rows(i, i+1).F32(), 3, func(k int) string {
			return predict.Label(m, k)
		})...)
	}
	return best.Raw()
}

// tritonPost sends recorded bytes on a connection, and returns the outputs in the answer.
func tritonPost(t *testing.T, s *Server, name string, request []byte, want recordedRequest) []byte {
	t.Helper()
	c, err := net.Dial("tcp", s.HTTP())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(request); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(name, err)
	}
	body, err := io.ReadAll(r.Body)
	status := http.StatusOK
	if want.refused {
		status = http.StatusNotImplemented
	}
	if err != nil || r.StatusCode != status {
		t.Errorf("%s: %s %s, %v", name, r.Status, body, err)
		return nil
	}
	if want.rows == 0 {
		return nil
	}
	if want.json {
		return inJSON(t, body)
	}
	length, err := strconv.Atoi(r.Header.Get(jsonLength))
	var head struct {
		ID      string
		Outputs []struct{ Shape []int }
	}
	err = errors.Join(err, json.Unmarshal(body[:length], &head))
	if err != nil || head.Outputs[0].Shape[0] != want.rows || (head.ID == "q") != (name == "infer-version") {
		t.Errorf("%s: %s, %v", name, body[:length], err)
	}
	return body[length:]
}

// tritonCall sends a recorded message, and returns the outputs in the answer.
func tritonCall(t *testing.T, c *grpc.ClientConn, method string, message []byte,
	want recordedRequest) []byte {
	t.Helper()
	var answer []byte
	err := c.Invoke(t.Context(), "/inference.GRPCInferenceService/"+method, message, &answer,
		grpc.ForceCodecV2(asItIs{}))
	code := codes.OK
	if want.refused {
		code = codes.Unimplemented
	}
	if status.Code(err) != code {
		t.Errorf("%s: %v, want %v", method, err, code)
	}
	if want.rows == 0 || err != nil {
		return nil
	}
	var out pb.ModelInferResponse
	if err := proto.Unmarshal(answer, &out); err != nil || out.Outputs[0].Shape[0] != int64(want.rows) {
		t.Fatalf("%s: %v, %v", method, &out, err)
	}
	return out.RawOutputContents[0]
}
