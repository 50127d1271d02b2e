package remote_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// beside is a provider of devices that continue to compute while their gradients are
// summed.
type beside struct{ ref.Provider }

func (b beside) Open(ctx context.Context, id string, o device.Options) (device.Device, error) {
	d, err := b.Provider.Open(ctx, id, o)
	return &besideDevice{Device: d}, err
}

type besideDevice struct {
	device.Device
	group device.Group
}

func (d *besideDevice) Join(ctx context.Context, g device.Group) error {
	d.group = g
	return d.Device.Join(ctx, g)
}

func (d *besideDevice) Load(ctx context.Context, p *graph.Program, c device.Capacity) (
	device.Executable, error) {
	x, err := d.Device.Load(ctx, p, c)
	return &besideExecutable{x, d}, err
}

type besideExecutable struct {
	device.Executable
	device *besideDevice
}

// reduction returns a sum of one number.
func reduction(rank int, number float32) []collective.Reduction {
	part := collective.Partial{Node: collective.Node{From: rank, To: rank + 1},
		Value: tensor.Of([]float32{number}, 1)}
	return []collective.Reduction{{Op: collective.Sum, Partials: []collective.Partial{part},
		Result: tensor.New(tensor.F32, 1)}}
}

func tag(s device.Step, lane collective.Lane, sequence int) collective.Tag {
	name := fmt.Sprint("g", sequence)
	if lane == collective.Moments {
		name = "m"
	}
	return collective.Tag{Generation: 1, Step: s.Number, Lane: lane, Sequence: uint64(sequence), Name: name}
}

// sixGradients returns a program with six exchanges of lane Gradients and one of lane Moments, each of one
// number.
func sixGradients(t *testing.T) *graph.Program {
	p := &graph.Program{Name: "gradients"}
	b := graph.NewBuilder(graph.Train, &p.State)
	x := b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: []int{1}})
	sum := func(name string) graph.Value {
		return b.Op(graph.AllReduce, name+".all", []graph.Value{b.Op(graph.ChannelSum, name, []graph.Value{x})})
	}
	for i := range 6 {
		name := fmt.Sprint("g", i)
		b.Output(name, sum(name), true)
	}
	b.Output("y", b.Op(graph.Add, "y", []graph.Value{x, sum("m")}), false)
	f, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	p.Functions = append(p.Functions, f)
	return p
}

// oneNumber returns a step of the program sixGradients, with two rows.
func oneNumber(number uint64) device.Step {
	return device.Step{Function: graph.Train, Number: number, Rows: []int{2},
		Inputs: []tensor.Tensor{tensor.New(tensor.F32, 2, 1)}}
}

// Run starts six exchanges of gradients and then one of moments. It waits for the moments. In
// a run with an even number it then waits for the gradients, in reverse order.
func (x *besideExecutable) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	var sums [][]collective.Reduction
	var waits []func() error
	for i := range 6 {
		sums = append(sums, reduction(0, float32(i)))
		waits = append(waits, x.device.group.Exchange.Start(ctx, tag(s, collective.Gradients, i), sums[i]))
	}
	if err := x.device.group.Exchange.Start(ctx, tag(s, collective.Moments, 0), reduction(0, 1))(); err != nil {
		return device.Outcome{}, err
	}
	for i := 5; i >= 0 && s.Number%2 == 0; i-- {
		if err := waits[i](); err != nil {
			return device.Outcome{}, err
		}
		if got, want := sums[i][0].Result.F32()[0], float32(i+100); got != want {
			return device.Outcome{}, fmt.Errorf("sum %d is %v, want %v", i, got, want)
		}
	}
	return device.Outcome{Outputs: []tensor.Tensor{tensor.New(tensor.F32, 2, 1)}}, nil
}

// TestExchangesBesideEachOther checks that a device can exchange moments while exchanges of
// gradients are in progress, and that each sum arrives at the exchange that it belongs to.
func TestExchangesBesideEachOther(t *testing.T) {
	for _, level := range levels {
		d := open(t, start(t, "beside", level))
		x := load(t, d, sixGradients(t))
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		hub := collective.NewHub(2, 2)
		g := device.Group{Generation: 1, Replicas: [][]int{{0}, {1}}, Exchange: hub.Member(0)}
		if err := d.Join(ctx, g); err != nil {
			t.Fatal(err)
		}
		for number := range uint64(4) {
			s := oneNumber(number)
			done := make(chan error, 1)
			go func() {
				_, err := x.Run(ctx, s)
				done <- err
			}()
			other := hub.Member(1)
			early := 6 - 4 // 4 is the maximum number of unanswered exchanges
			for i := range early {
				if err := other.Start(ctx, tag(s, collective.Gradients, i), reduction(1, 100))(); err != nil {
					t.Fatalf("%s: run %d: gradients %d: %v", level, number, i, err)
				}
			}
			if err := other.Start(ctx, tag(s, collective.Moments, 0), reduction(1, 1))(); err != nil {
				t.Fatalf("%s: run %d: moments: %v", level, number, err)
			}
			for i := early; i < 6; i++ {
				if err := other.Start(ctx, tag(s, collective.Gradients, i), reduction(1, 100))(); err != nil {
					t.Fatalf("%s: run %d: gradients %d: %v", level, number, i, err)
				}
			}
			if err := <-done; err != nil {
				t.Errorf("%s: run %d: %v", level, number, err)
			}
		}
	}
}

// TestLostWithExchangesUnderWay checks that a device that dies during exchanges is lost and
// that no call hangs.
func TestLostWithExchangesUnderWay(t *testing.T) {
	for _, level := range levels {
		d := open(t, start(t, "beside", level))
		x := load(t, d, sixGradients(t))
		hub := collective.NewHub(2, 2)
		g := device.Group{Generation: 1, Replicas: [][]int{{0}, {1}}, Exchange: hub.Member(0)}
		if err := d.Join(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := x.Run(t.Context(), oneNumber(0))
			done <- err
		}()
		for hub.Missing() == nil {
			time.Sleep(time.Millisecond)
		}
		process, err := os.FindProcess(d.Info().Process)
		if err == nil {
			err = process.Kill()
		}
		if err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			if !errors.Is(err, device.Lost) {
				t.Errorf("%s: %v, want lost", level, err)
			}
		case <-time.After(patience):
			t.Fatalf("%s: the run hangs", level)
		}
	}
}
