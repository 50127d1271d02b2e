package bitwise

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/plugins/cpu"
	"github.com/bnctl/bnctl/tensor"
)

// CPU opens the CPU device in class "fma", the reference for other devices.
func CPU(ctx context.Context) (device.Device, error) { return InClass(ctx, "fma") }

// InClass opens the CPU device in a kernel class, with two threads.
func InClass(ctx context.Context, class string) (device.Device, error) {
	return cpu.Provider{}.Open(ctx, device.DefaultID, device.Options{Kernels: class, Threads: 2})
}

// Compare runs the function predict of p on two devices. Replica r has rows[r] rows. If the results differ,
// the error names the first element with different bits.
func Compare(ctx context.Context, a, b device.Device, p *graph.Program, rows []int, v Values) error {
	want, err := evaluate(ctx, a, p, rows, v)
	if err != nil {
		return err
	}
	got, err := evaluate(ctx, b, p, rows, v)
	if err != nil {
		return err
	}
	for i, o := range p.Functions[0].Outputs {
		if err := same(got[i], want[i]); err != nil {
			return fmt.Errorf("%s: %w", o.Name, err)
		}
	}
	return nil
}

// evaluate runs the only function of p with generated state and inputs.
func evaluate(ctx context.Context, d device.Device, p *graph.Program, rows []int, v Values) (
	[]tensor.Tensor, error) {
	x, step, err := prepare(ctx, d, p, rows, v)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	out, err := x.Run(ctx, step)
	return out.Outputs, err
}

// Repeated loads p on d and returns two functions. run runs the only function of p on generated rows,
// and end frees the executable.
func Repeated(ctx context.Context, d device.Device, p *graph.Program, rows int) (run, end func() error,
	err error) {
	x, step, err := prepare(ctx, d, p, []int{rows}, Normal)
	if err != nil {
		return nil, nil, err
	}
	return func() error {
		_, err := x.Run(ctx, step)
		return err
	}, x.Close, nil
}

// prepare loads p with generated state, and generates the inputs of a step.
func prepare(ctx context.Context, d device.Device, p *graph.Program, rows []int, v Values) (device.Executable,
	device.Step, error) {
	r, total := rand.New(rand.NewPCG(5, 5)), 0
	for _, n := range rows {
		total += n
	}
	x, err := d.Load(ctx, p, device.Capacity{Rows: total + 1, Replicas: len(rows)})
	if err != nil {
		return nil, device.Step{}, err
	}
	ofState := v
	if v == Uneven {
		ofState = Normal
	}
	for _, s := range p.State {
		t := tensor.New(s.DType, s.Shape...)
		ofState.fill(r, s.Name, t)
		if err := x.Write(ctx, s.Name, t); err != nil {
			return nil, device.Step{}, errors.Join(err, x.Close())
		}
	}
	step := device.Step{Function: p.Functions[0].Name, Rows: rows}
	for _, id := range p.Functions[0].Inputs {
		in := p.Functions[0].Values[id]
		t := tensor.New(in.Type.DType, in.Type.Sized(total, len(rows))...)
		v.fill(r, in.Name, t)
		step.Inputs = append(step.Inputs, t)
	}
	return x, step, nil
}

// same returns an error that gives the first difference between two tensors and the
// number of differences.
func same(got, want tensor.Tensor) error {
	if got.DType != want.DType || len(got.Bytes) != len(want.Bytes) {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	first, n, of := -1, 0, got.Count()
	for i := range of {
		if !sameElement(got, want, i) {
			if n++; first < 0 {
				first = i
			}
		}
	}
	if n > 0 {
		return fmt.Errorf("%d of %d elements differ, the first is %d: got %v, want %v", n, of, first,
			element(got, first), element(want, first))
	}
	return nil
}

func sameElement(a, b tensor.Tensor, i int) bool {
	n := a.DType.Size()
	if bytes.Equal(a.Bytes[i*n:(i+1)*n], b.Bytes[i*n:(i+1)*n]) {
		return true
	}
	x, y := element(a, i), element(b, i)
	return x != x && y != y
}

func element(t tensor.Tensor, i int) float64 {
	switch t.DType {
	case tensor.F32:
		return float64(t.F32()[i])
	case tensor.F64:
		return t.F64()[i]
	}
	return math.Inf(1) // the distance from a NaN is infinite
}

// Model returns the program for predictions with an architecture, for images of
// side x side pixels.
func Model(name string, side int) (*graph.Program, error) {
	a, err := models.Lookup(name)
	if err != nil {
		return nil, err
	}
	m, err := models.Build(name, models.Options{Input: models.Size{Height: side, Width: side,
		Channels: a.Input.Channels}})
	if err != nil {
		return nil, err
	}
	fn, err := spmd.PredictFunction(m.Graph)
	if err != nil {
		return nil, err
	}
	return &graph.Program{Name: name, State: m.Graph.State, Functions: []*graph.Function{fn}}, nil
}
