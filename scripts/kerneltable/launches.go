package main

import (
	"context"
	"fmt"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/plugins/gpu"
	"github.com/bnctl/bnctl/tensor"
)

// counted is a driver without hardware that counts launches.
type counted struct{ launches, buffers *int }

func (n counted) Alloc(int) (gpu.Buffer, error) {
	*n.buffers++
	return gpu.Buffer(*n.buffers), nil
}

func (counted) Free(gpu.Buffer) error { return nil }

func (counted) Write(gpu.Buffer, int, []byte) error { return nil }

func (counted) Read(...gpu.Transfer) func() error { return func() error { return nil } }

func (counted) Copy(gpu.Buffer, gpu.Buffer, int) error { return nil }

func (counted) Record([]gpu.Launch, int) (gpu.Recording, error) { return 0, nil }

func (counted) Replay(gpu.Recording) error { return nil }

func (counted) Forget(gpu.Recording) error { return nil }

func (counted) Has(string) bool { return true }

func (counted) Wait() error { return nil }

func (counted) Mark() (gpu.Mark, error) { return 0, nil }

func (counted) Times([]gpu.Mark) ([]time.Duration, error) { return nil, nil }

func (counted) Close() error { return nil }

func (n counted) Launch(string, [2]int, []any) error {
	*n.launches++
	return nil
}

// launches prints the number of launches of a call of some networks, with every node as a separate launch
// and with epilogues and chains. A second call is counted: the first one also prepares the weights.
func launches(ctx context.Context) error {
	fmt.Println("\n| network | mode | launches, separate | launches | is |\n|---|---|---|---|---|")
	for _, name := range []string{"resnet50", "mobilenetv2", "efficientnet-b0", "vit-b-16"} {
		for _, mode := range []string{"infer", "train"} {
			p, err := program(name, mode)
			if err != nil {
				return err
			}
			separate, err := count(ctx, p, gpu.NewSeparate)
			if err != nil {
				return err
			}
			together, err := count(ctx, p, gpu.New)
			if err != nil {
				return err
			}
			fmt.Printf("| %s | %s | %d | %d | %.2f |\n", name, mode, separate, together,
				float64(together)/float64(separate))
		}
	}
	return nil
}

// count returns the number of launches of a call of all functions of p.
func count(ctx context.Context, p *graph.Program, open func(device.Info, gpu.Driver) device.Device) (int,
	error) {
	driver := counted{new(int), new(int)}
	d := open(device.Info{ID: "0", Name: "counted:0", MemoryTotal: 1 << 50}, driver)
	defer d.Close()
	const rows = 8
	x, err := d.Load(ctx, p, device.Capacity{Rows: rows, Replicas: 1})
	if err != nil {
		return 0, err
	}
	defer x.Close()
	for version := range device.Version(2) {
		*driver.launches = 0
		fn := p.Functions[0]
		step := device.Step{Function: fn.Name, Rows: []int{rows}}
		for _, id := range fn.Inputs {
			t := fn.Values[id].Type
			step.Inputs = append(step.Inputs, tensor.New(t.DType, t.Sized(rows, 1)...))
		}
		if _, err := x.Run(ctx, step); err != nil {
			return 0, err
		}
		if len(p.Functions) > 1 {
			if err := x.Commit(ctx, version, device.Hyper{"lr": 0.1}); err != nil {
				return 0, err
			}
		}
	}
	return *driver.launches, nil
}

// program returns the program that predicts, or that trains by SGD with momentum.
func program(name, mode string) (*graph.Program, error) {
	m, err := models.Build(name, models.Options{})
	if err != nil {
		return nil, err
	}
	if mode == "infer" {
		return spmd.PredictProgram(m.Graph)
	}
	wrapped, err := spmd.Wrap(m.Graph, spmd.Options{Replicas: 1, BN: bn.Sync})
	if err != nil {
		return nil, err
	}
	var trained []string
	for _, s := range m.Graph.State {
		if s.Role.Trained() {
			trained = append(trained, s.Name)
		}
	}
	train, err := spmd.TrainFunction(wrapped, spmd.Training{Trained: trained})
	if err != nil {
		return nil, err
	}
	table := wrapped.State
	b := graph.NewBuilder(graph.Commit, &table)
	lr := b.Input("lr", graph.Type{Kind: graph.Whole, DType: tensor.F32})
	for _, s := range trained {
		w := b.Read(s)
		v := b.Declare(graph.State{Name: s + ".velocity", DType: tensor.F32, Shape: b.Type(w).Shape,
			Role: graph.Optimizer})
		g := b.Input(spmd.Gradient(s), b.Type(w))
		next := b.Node(graph.SGD, s+".next", graph.Attrs{}.With("weight_decay", 1e-4), w, g, v, lr)
		b.Update(s, next[0])
		b.Update(s+".velocity", next[1])
	}
	commit, err := b.Function()
	return &graph.Program{Name: name, State: table, Functions: []*graph.Function{train, commit}}, err
}
