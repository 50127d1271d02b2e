package onnx

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/formats/onnx/internal/onnxpb"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/tensor"
)

// runtime is ONNX Runtime in a separate process.
type runtime struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startRuntime(t *testing.T) *runtime {
	t.Helper()
	r := &runtime{cmd: exec.Command("node", "testdata/ort_many.js")}
	r.cmd.Stderr = os.Stderr
	in, err := r.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.in, r.out = in, bufio.NewReaderSize(out, 1<<20)
	return r
}

func (r *runtime) stop() { r.in.Close(); r.cmd.Wait() }

// answered is the response of ONNX Runtime for a model.
type answered struct {
	Outputs map[string]struct {
		Dims []int
		Type string
		Data []byte
	}
	Error string
}

// run runs a model on x. It returns an error only if the process fails; an error of the
// model is in a.
func (r *runtime) run(model []byte, x tensor.Tensor) (a answered, err error) {
	ask, err := json.Marshal(map[string]any{"model": model, "dims": x.Shape,
		"data": base64.StdEncoding.EncodeToString(x.Bytes)})
	if err != nil {
		return a, err
	}
	if _, err := r.in.Write(append(ask, '\n')); err != nil {
		return a, err
	}
	line, err := r.out.ReadBytes('\n')
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(line, &a)
}

// TestPeerSketches draws graphs of one to six operators, with operands of every rank. Each
// graph is refused, or has the results of ONNX Runtime. BNCTL_SEEDS is the number of graphs
// for each operator and rank, and BNCTL_SEED is the first seed.
func TestPeerSketches(t *testing.T) {
	needPeers(t)
	peer := startRuntime(t)
	defer func() { peer.stop() }()
	from, count := number64(t, "BNCTL_SEED", 1000), number64(t, "BNCTL_SEEDS", 20)
	tally := map[string]int{}
	for _, op := range operatorNames() {
		for rank := range 7 {
			for seed := from; seed < from+count; seed++ {
				s := sketched(seeded(seed), op, rank)
				verdict, err := s.judged(peer)
				if err == errPeer {
					peer.stop()
					peer = startRuntime(t)
				}
				tally[verdict]++
				if verdict == "wrong" {
					path := filepath.Join(os.TempDir(), fmt.Sprintf("sketch-%s-%d-%d.onnx", op, rank, seed))
					os.WriteFile(path, s.bytes(), 0o644)
					t.Errorf("%s of rank %d, seed %d: %v; it is %s", op, rank, seed, err, path)
				} else if verdict == "read alone" && testing.Verbose() {
					t.Logf("%s of rank %d, seed %d, is read and ONNX Runtime refuses it: %v", op, rank, seed, err)
				}
			}
		}
	}
	t.Logf("graphs: %v", tally)
}

var errPeer = fmt.Errorf("ONNX Runtime died")

func number64(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// judged compares the results of a sketch with those of ONNX Runtime.
func (s *sketch) judged(peer *runtime) (verdict string, err error) {
	m, refused := s.read()
	if refused != nil {
		return "refused", refused
	}
	x := ramp(m, s.rows)
	fed := x
	if len(m.Input().Shape) == len(s.g.Input[0].Type.TensorType.Shape.Dim) { // a sample is the whole input
		x = ramp(m, 1)
		fed = x
		fed.Shape = x.Shape[1:]
	}
	got, err := eval(m, x)
	if err != nil {
		return "wrong", err
	}
	want, err := peer.run(s.bytes(), fed)
	if err != nil {
		return "died", errPeer
	}
	if want.Error != "" {
		return "read alone", fmt.Errorf("%s", want.Error)
	}
	err = s.compared(m, got, want)
	if err == nil {
		return "right", nil
	}
	rounded, failed := evalF32(m, x) // near a pole, numbers that differ in float64 may be equal in f32
	switch {
	case failed != nil:
		return "wrong", failed
	case s.compared(m, rounded, want) == nil:
		return "right", nil
	case s.shaky(m, x, got):
		return "ill-conditioned", err
	}
	return "wrong", err
}

// compared compares all outputs of the file, by their names.
func (s *sketch) compared(m *models.Model, got []tensor.Tensor, want answered) error {
	has := func(list []string) bool {
		return slices.ContainsFunc(s.g.Node, func(n *onnxpb.NodeProto) bool {
			return slices.Contains(list, n.OpType)
		})
	}
	loose, near, scale := has(undefined), 1e-5, 0.0
	if has(logarithms) {
		scale = 1
	}
	if has(cancelling) {
		near = 1e-4
	}
	var rounded []tensor.Tensor
	for _, t := range got {
		if t.DType == tensor.F64 {
			t = narrow(t)
		}
		rounded = append(rounded, t)
	}
	compared := 0
	typed, err := m.FileOutputs(rounded)
	if err != nil {
		return err
	}
	for i, o := range m.Outputs() {
		w, ok := want.Outputs[o.Name]
		if !ok {
			continue // logits or scores, which the reader adds
		}
		compared++
		if err := agrees(typed[i], w.Dims, w.Type, w.Data, loose, near, scale); err != nil {
			return fmt.Errorf("output %s: %w", o.Name, err)
		}
	}
	if compared != len(want.Outputs) {
		return fmt.Errorf("%d outputs of %d", compared, len(want.Outputs))
	}
	return nil
}

// evalF32 returns the results of the reference device for x, in f32.
func evalF32(m *models.Model, x tensor.Tensor) ([]tensor.Tensor, error) {
	p, err := spmd.PredictProgram(m.Graph)
	if err != nil {
		return nil, err
	}
	loaded, err := ref.Load(p, "")
	if err != nil {
		return nil, err
	}
	r, err := loaded.Run(context.Background(), lifecycle.Step{Step: device.Step{Function: p.Functions[0].Name,
		Rows: []int{x.Shape[0]}, Inputs: []tensor.Tensor{x}}}, m.State)
	return r.Outputs, err
}

// narrow returns an f64 tensor as f32.
func narrow(t tensor.Tensor) tensor.Tensor {
	out := tensor.New(tensor.F32, t.Shape...)
	for i, v := range t.F64() {
		out.F32()[i] = float32(v)
	}
	return out
}

// undefined are the operators for which ONNX does not define the result for infinities and
// NaN. Examples are a maximum, a sum with weights of 0, and a division by zero, where the
// sign of the zero decides the sign of the result.
var undefined = []string{"MeanVarianceNormalization", "ReduceMax", "ReduceMin", "MaxPool", "GlobalMaxPool", "Relu", "Clip", "LRN",
	"Resize",
	"Upsample", "Div", "Pow", "Reciprocal", "Softmax", "LogSoftmax"}

// logarithms are the operators that return a small number for a number near 1, so that the
// last bit of the operand has a large effect.
var logarithms = []string{"Log", "ReduceLogSum", "ReduceLogSumExp"}

// cancelling are the operators that ONNX defines by a function body with the variance as
// the mean of squares minus the square of the mean. ONNX Runtime computes this in float32.
// For groups of one or two elements its error against float64 is up to 3e-5 of the largest
// element, as with the same formula in NumPy. Two passes have an error of 4e-7. If all
// elements are equal, its variance may be negative, and its result is NaN instead of 0.
var cancelling = []string{"GroupNormalization", "MeanVarianceNormalization"}

// shaky reports whether a relative change of 1e-6 in the input changes the output by more
// than 1e-5 of its largest element. The result in f32 then depends on the order of
// operations.
func (s *sketch) shaky(m *models.Model, x tensor.Tensor, got []tensor.Tensor) bool {
	near := x.Clone()
	for i, v := range x.F32() {
		near.F32()[i] = v * (1 + 1e-6*float32(1-2*(i%2)))
	}
	moved, err := eval(m, near)
	if err != nil {
		return false
	}
	for i := range got {
		size, most := 0.0, 0.0
		for k, v := range got[i].F64() {
			size, most = max(size, math.Abs(v)), max(most, math.Abs(v-moved[i].F64()[k]))
		}
		if most > 1e-5*size {
			return true
		}
	}
	return false
}

// agrees compares the elements and the type of an output with those of ONNX Runtime. near
// is the tolerance, relative to the largest element. got may have a batch axis of length 1
// that the file drops.
func agrees(got tensor.Tensor, dims []int, kind string, data []byte, loose bool, near, size float64) error {
	d := map[string]tensor.DType{"float32": tensor.F32, "float64": tensor.F64, "bool": tensor.Bool,
		"int64": tensor.I64, "int32": tensor.I32, "uint8": tensor.U8, "int8": tensor.I8, "int16": tensor.I16,
		"uint16": tensor.U16}[kind]
	// A sketch does not declare the types of its outputs: integer outputs are i64.
	undeclared := got.DType == tensor.I64 && d == tensor.I32
	if d != got.DType && !undeclared && (d != tensor.F64 || got.DType != tensor.F32) {
		return fmt.Errorf("has the type %v, want %s", got.DType, kind)
	}
	want, err := tensor.FromBytes(d, dims, data)
	if err == nil {
		want, err = numbersOf(want)
	}
	if err == nil {
		got, err = numbersOf(got)
	}
	if err != nil {
		return err
	}
	if tensor.Count(dims) != got.Count() || !slices.Equal(dims, got.Shape) &&
		!(got.Shape[0] == 1 && slices.Equal(dims, got.Shape[1:])) {
		return fmt.Errorf("has the shape %v, want %v", got.Shape, dims)
	}
	for _, v := range want.F32() {
		if !math.IsInf(float64(v), 0) && !math.IsNaN(float64(v)) {
			size = max(size, math.Abs(float64(v)))
		}
	}
	for i, v := range want.F32() {
		g, w := float64(got.F32()[i]), float64(v)
		if loose && (math.IsNaN(g+w) || math.IsInf(g, 0) || math.IsInf(w, 0)) {
			continue
		}
		if g != w && !(math.IsNaN(g) && math.IsNaN(w)) && !(math.Abs(g-w) <= near*size) {
			return fmt.Errorf("element %d is %g, want %g, of elements up to %g", i, g, w, size)
		}
	}
	return nil
}

// numbersOf returns a tensor of any type as f32; truth values are 0 and 1.
func numbersOf(t tensor.Tensor) (tensor.Tensor, error) {
	t = t.Clone()
	if t.DType == tensor.Bool {
		t.DType = tensor.U8
	}
	return t.ToF32()
}
