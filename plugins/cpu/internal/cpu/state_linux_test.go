package cpu

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/plugins/cpu/internal/arena"
	"github.com/bnctl/bnctl/tensor"
)

// inFile writes tensors to a file at path. The last tensor ends at the end of a page, and so does the
// file. inFile returns the mapped file, and the tensors as views of it.
func inFile(t *testing.T, path string, state map[string]tensor.Tensor) (
	*tensor.Mapped, map[string]tensor.Tensor) {
	t.Helper()
	room := 0
	for _, v := range state {
		room += (len(v.Bytes) + tensor.Alignment - 1) &^ (tensor.Alignment - 1)
	}
	page := os.Getpagesize()
	content, at := make([]byte, (room+page-1)/page*page), map[string]int{}
	end := len(content)
	for name, v := range state {
		end = (end - len(v.Bytes)) &^ (tensor.Alignment - 1)
		copy(content[end:], v.Bytes)
		at[name] = end
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := tensor.Map(path)
	if err != nil {
		t.Fatal(err)
	}
	views := map[string]tensor.Tensor{}
	for name, v := range state {
		views[name] = tensor.Tensor{DType: v.DType, Shape: v.Shape, Bytes: m.Bytes[at[name]:][:len(v.Bytes)]}
	}
	return m, views
}

// present counts the pages of b that this process has in memory
// (https://docs.kernel.org/admin-guide/mm/pagemap.html).
func present(t *testing.T, b []byte) (n int) {
	t.Helper()
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	page := os.Getpagesize()
	first := int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) / page
	entries := make([]byte, 8*(len(b)/page))
	if _, err := f.ReadAt(entries, int64(8*first)); err != nil {
		t.Fatal(err)
	}
	for ; len(entries) > 0; entries = entries[8:] {
		n += int(binary.LittleEndian.Uint64(entries) >> 63)
	}
	return n
}

// TestStateInFile predicts, trains and predicts again with weights that are stored in a
// file, and with copies of them.
func TestStateInFile(t *testing.T) {
	const name, rows = "resnet20", 2
	input := models.Size{Height: 8, Width: 8, Channels: 3}
	copied := newTrainer(t, openSet(t, "auto", 2), name, rows, 1, input)
	viewed := newTrainer(t, openSet(t, "auto", 2), name, rows, 1, input)
	states := runnerOf(viewed.Executable).memory.States
	large := map[string]tensor.Tensor{}
	for name, s := range states {
		if len(s.Value.Bytes) >= arena.LeastView {
			large[name] = s.Value
		}
	}
	path := filepath.Join(t.TempDir(), "state")
	file, views := inFile(t, path, large)
	before := bytes.Clone(file.Bytes)
	for name, v := range views {
		if err := viewed.Write(context.Background(), name, v); err != nil {
			t.Fatal(err)
		}
		if s := states[name]; unsafe.SliceData(s.Value.Bytes) != unsafe.SliceData(v.Bytes) {
			t.Errorf("%s was copied", name)
		}
	}
	if err := file.Close(); err != nil { // the states keep it open
		t.Fatal(err)
	}
	for range 2 {
		same(t, "prediction", predictions(t, viewed), predictions(t, copied))
		viewed.run(t)
		copied.run(t)
	}
	for name, s := range states {
		same(t, name, s.Value, runnerOf(copied.Executable).memory.States[name].Value)
	}
	if m, _ := tensor.MappedAt(views["layer3.2.conv2.weight"].Bytes); m != nil {
		t.Error("the file is still mapped although all of it was committed over")
	}
	if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, before) {
		t.Errorf("the file was written to: %v", err)
	}
}

// predictions returns the results of predict for rows of random values.
func predictions(t *testing.T, tr *trainer) tensor.Tensor {
	t.Helper()
	fn := tr.program.Function(graph.Predict)
	in := fn.Values[fn.Inputs[0]].Type
	x := randomTensor(rand.New(rand.NewPCG(4, 4)), in.DType, append([]int{2}, in.Shape...))
	out, err := tr.Run(context.Background(),
		device.Step{Function: graph.Predict, Rows: []int{2}, Inputs: []tensor.Tensor{x}})
	if err != nil {
		t.Fatal(err)
	}
	return out.Outputs[0]
}

func same(t *testing.T, what string, got, want tensor.Tensor) {
	t.Helper()
	if err := tensor.Close(got, want, tensor.Tolerance{}); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// TestPackedWeightsLeaveTheFile runs a convolution with weights that are stored in a file.
// Once they are packed, the process does not hold them in memory.
func TestPackedWeightsLeaveTheFile(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	p := program(t, opCase{inputs: "x rows f32[64,6,6]", state: "state w f32[64,64,3,3] constant\n",
		body: "  y = conv(x, @w, pad=[1,1,1,1])\n"})
	x := randomTensor(r, tensor.F32, []int{1, 64, 6, 6})
	file, views := inFile(t, filepath.Join(t.TempDir(), "state"),
		map[string]tensor.Tensor{"w": randomTensor(r, tensor.F32, []int{64, 64, 3, 3})})
	for _, class := range []string{"generic", "auto"} {
		e, err := openSet(t, class, 2).Load(context.Background(), p, device.Capacity{Rows: 1, Replicas: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Write(context.Background(), "w", views["w"]); err != nil {
			t.Fatal(err)
		}
		_ = bytes.Clone(views["w"].Bytes)
		if present(t, views["w"].Bytes) == 0 {
			t.Fatal("reading the file brings nothing into memory: the test can see nothing")
		}
		_, err = e.Run(context.Background(), device.Step{Function: p.Functions[0].Name, Rows: []int{1},
			Inputs: []tensor.Tensor{x}})
		if err != nil {
			t.Fatal(err)
		}
		if n := present(t, views["w"].Bytes); n > 0 {
			t.Errorf("%s: %d pages of the weights are in memory beside the packed ones", class, n)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
	if m, _ := tensor.MappedAt(views["w"].Bytes); m != nil {
		t.Error("closed executables hold the file")
	}
}
