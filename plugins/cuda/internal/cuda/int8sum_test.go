package cuda

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/tensor"
)

// TestInt8Sum predicts on the PTX machine for scripts/int8sums.sh and scripts/peers/qdqsums.py. It reads
// the model q.bnm and the samples x.npy in the folder BNCTL_INT8_SUM, and writes logits.npy there,
// without the header of the format.
func TestInt8Sum(t *testing.T) {
	folder, ctx := os.Getenv("BNCTL_INT8_SUM"), t.Context()
	if folder == "" {
		t.Skip("make sums-int8 runs it; the operations alone are among the cases")
	}
	opened, err := modelfile.Open(filepath.Join(folder, "q.bnm"), modelfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := opened.Model
	fn, err := spmd.PredictFunction(m.Graph)
	if err != nil {
		t.Fatal(err)
	}
	npy, err := os.ReadFile(filepath.Join(folder, "x.npy"))
	if err != nil {
		t.Fatal(err)
	}
	const lengthAt = 8 // offset of the header's length in an .npy file
	npy = npy[lengthAt+2+int(binary.LittleEndian.Uint16(npy[lengthAt:])):]
	input := m.Input()
	bytes := len(tensor.New(input.DType, input.Shape...).Bytes)
	samples := len(npy) / bytes
	rows := min(samples, 100)
	x, err := openMachine(t).Load(ctx, &graph.Program{Name: "int8", State: m.Graph.State,
		Functions: []*graph.Function{fn}}, device.Capacity{Rows: rows, Replicas: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for name, v := range m.State {
		if err := x.Write(ctx, name, v); err != nil {
			t.Fatal(err)
		}
	}
	var logits []byte
	for i := 0; i < samples; i += rows {
		in := tensor.New(input.DType, append([]int{rows}, input.Shape...)...)
		copy(in.Bytes, npy[i*bytes:])
		out, err := x.Run(ctx, device.Step{Function: fn.Name, Rows: []int{rows}, Inputs: []tensor.Tensor{in}})
		if err != nil {
			t.Fatal(err)
		}
		logits = append(logits, out.Outputs[0].Bytes...)
	}
	if err := os.WriteFile(filepath.Join(folder, "logits.npy"), logits, 0o600); err != nil {
		t.Fatal(err)
	}
}
