package remote_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// summing is a provider with devices that exchange a large sum with the members that have the
// other replicas.
type summing struct{ ref.Provider }

func (s summing) Open(ctx context.Context, id string, o device.Options) (device.Device, error) {
	d, err := s.Provider.Open(ctx, id, o)
	return &summingDevice{besideDevice{Device: d}}, err
}

type summingDevice struct{ besideDevice }

func (d *summingDevice) Load(ctx context.Context, p *graph.Program, c device.Capacity) (
	device.Executable, error) {
	x, err := d.Device.Load(ctx, p, c)
	return &summingExecutable{x, d}, err
}

type summingExecutable struct {
	device.Executable
	device *summingDevice
}

const (
	outputs = 64
	inputs  = 512 // the weight then has 128 KiB
)

// Run exchanges a sum of ones. The partial value must be unchanged until the sum has arrived.
func (x *summingExecutable) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	sum := reduction(0, 1)
	part := tensor.New(tensor.F32, outputs, inputs)
	for i := range part.F32() {
		part.F32()[i] = 1
	}
	sum[0].Partials[0].Value, sum[0].Result = part, tensor.New(tensor.F32, outputs, inputs)
	at := tag(s, collective.Gradients, 0)
	at.Generation, at.Name = x.device.group.Generation, "dw"
	if err := x.device.group.Exchange.Start(ctx, at, sum)(); err != nil {
		return device.Outcome{}, err
	}
	for i, got := range sum[0].Result.F32() {
		if part.F32()[i] != 1 || got != float32(100+s.Number) {
			return device.Outcome{}, fmt.Errorf("element %d is %v + the others' = %v", i, part.F32()[i], got)
		}
	}
	return device.Outcome{}, nil
}

// wide returns a program with a gradient that is large enough to be exchanged in a chunk of the pool.
func wide(t *testing.T) *graph.Program {
	p := &graph.Program{Name: "wide"}
	b := graph.NewBuilder(graph.Train, &p.State)
	rows := func(n int) graph.Type { return graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{n}} }
	x, dy := b.Input("x", rows(inputs)), b.Input("dy", rows(outputs))
	b.Declare(graph.State{Name: "w", DType: tensor.F32, Shape: []int{outputs, inputs}, Role: graph.Weight})
	dw := b.Op(graph.DenseGradWeight, "dw", []graph.Value{x, dy})
	b.Output("dw", b.Op(graph.AllReduce, "dw.all", []graph.Value{dw}), true)
	f, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	p.Functions = append(p.Functions, f)
	return p
}

// others is an Exchanger of the host. It adds the values of the other members, and records
// whether results share memory with partial values. In step 3 it ends the group.
type others struct{ inPlace bool }

func (o *others) Start(_ context.Context, tag collective.Tag, values []collective.Reduction) func() error {
	v := values[0]
	o.inPlace = unsafe.SliceData(v.Result.Bytes) == unsafe.SliceData(v.Partials[0].Value.Bytes)
	for i, own := range v.Partials[0].Value.F32() {
		v.Result.F32()[i] = own + float32(99+tag.Step)
	}
	return func() error {
		if tag.Step == 3 {
			return collective.Aborted
		}
		return nil
	}
}

// TestValuesInAPool checks that a group that holds only some of the replicas exchanges values in shared
// memory. Other groups send the values. Sessions at a level without shared memory also send them.
func TestValuesInAPool(t *testing.T) {
	for _, level := range levels {
		d := open(t, start(t, "summing", level))
		x := load(t, d, wide(t))
		for generation, tree := range []int{2, 2, 1} {
			o := &others{}
			g := device.Group{Generation: uint64(generation + 1), Replicas: [][]int{{0}}, Exchange: o, Tree: tree}
			if tree == 1 {
				g.Replicas = append(g.Replicas, []int{}) // a second member, so that the device is not alone
			}
			if err := d.Join(t.Context(), g); err != nil {
				t.Fatal(err)
			}
			for number := range uint64(6) {
				s := step(number, 2)
				s.Inputs = []tensor.Tensor{tensor.New(tensor.F32, 2, inputs), tensor.New(tensor.F32, 2, outputs)}
				_, err := x.Run(t.Context(), s)
				if number == 3 && !errors.Is(err, collective.Aborted) || number != 3 && err != nil {
					t.Errorf("%s: group %d: run %d: %v", level, generation, number, err)
				}
				if want := level == device.Shm && tree == 2; o.inPlace != want {
					t.Errorf("%s: group %d: values in a pool: %v, want %v", level, generation, o.inPlace, want)
				}
			}
		}
	}
}
