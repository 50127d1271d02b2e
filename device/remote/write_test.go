package remote_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// manyStates returns a program of n state tensors, and the values to write to them. One
// tensor is larger than the capacity of a connection.
func manyStates(t *testing.T, n int) (*graph.Program, []string, map[string]tensor.Tensor) {
	t.Helper()
	text := "bnctl program 1\nprogram \"p\"\n\n"
	var names []string
	state := map[string]tensor.Tensor{}
	for i := range n {
		length := 3 + i
		if i == n/2 {
			length = 2 << 20
		}
		name := fmt.Sprintf("s%d", i)
		text += fmt.Sprintf("state %s f32[%d] weight zeros\n", name, length)
		names, state[name] = append(names, name), tensor.New(tensor.F32, length)
		for k := range state[name].F32() {
			state[name].F32()[k] = float32(i*1000 + k%997)
		}
	}
	p, err := graph.ParseProgram([]byte(text + "func predict(x rows f32[3]) {\n  y = add(x, @s0)\n" +
		"  return y: rows = y\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return p, names, state
}

// TestWriteAll writes more tensors than may be in progress at once, with one among them
// that the device refuses.
func TestWriteAll(t *testing.T) {
	p, names, state := manyStates(t, 150)
	for _, role := range []string{"ref", "cpu"} {
		for _, level := range levels {
			x := load(t, open(t, start(t, role, level)), p)
			if err := x.WriteAll(context.Background(), names, state); err != nil {
				t.Fatalf("%s at %s: %v", role, level, err)
			}
			for _, name := range names {
				if got, err := x.Read(context.Background(), name); err != nil || !tensor.Equal(got, state[name]) {
					t.Errorf("%s at %s: %s is read as %v, %v", role, level, name, got, err)
				}
			}
			wrong := map[string]tensor.Tensor{}
			for _, name := range names {
				wrong[name] = state[name]
			}
			wrong["s7"] = tensor.New(tensor.F32, 1)
			err := x.WriteAll(context.Background(), names, wrong)
			if !errors.Is(err, device.Invalid) || !strings.Contains(err.Error(), "s7") {
				t.Errorf("%s at %s: a wrong tensor among others: %v", role, level, err)
			}
			if err := x.WriteAll(context.Background(), names, state); err != nil { // the device still works
				t.Errorf("%s at %s: after that: %v", role, level, err)
			}
		}
	}
}

// TestWriteAllCanceled ends the context during the writes. The device must still work
// afterwards.
func TestWriteAllCanceled(t *testing.T) {
	p, names, state := manyStates(t, 150)
	for _, level := range levels {
		x := load(t, open(t, start(t, "ref", level)), p)
		ctx, cancel := context.WithCancel(context.Background())
		go cancel()
		if err := x.WriteAll(ctx, names, state); err != nil && !errors.Is(err, device.Canceled) {
			t.Errorf("at %s: canceled writes: %v", level, err)
		}
		if err := x.WriteAll(context.Background(), names, state); err != nil {
			t.Errorf("at %s: after that: %v", level, err)
		}
		last := names[len(names)-1]
		if got, err := x.Read(context.Background(), last); err != nil || !tensor.Equal(got, state[last]) {
			t.Errorf("at %s: after that %s is read as %v, %v", level, last, got, err)
		}
	}
}
