package remote_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// spoilKey is the variable that names how a spoilt device changes the outputs of its runs.
const spoilKey = "BNCTL_TEST_SPOIL"

// spoils are ways to change the outputs of function train in the program regression, for two rows in a
// replica. The outputs are y f32[2,2], the moments of the replica, and the moments of all replicas.
var spoils = map[string]struct {
	change func([]tensor.Tensor) []tensor.Tensor
	says   string
}{
	"type": {func(o []tensor.Tensor) []tensor.Tensor {
		return append([]tensor.Tensor{tensor.New(tensor.F64, 2, 2)}, o[1:]...)
	}, "Outcome brings [f64[2,2] f64[1,5] f64[5]], want [f32[2,2] f64[1,5] f64[5]]"},
	"shape": {func(o []tensor.Tensor) []tensor.Tensor {
		return append([]tensor.Tensor{tensor.New(tensor.F32, 1, 2)}, o[1:]...)
	}, "Outcome brings [f32[1,2] f64[1,5] f64[5]], want [f32[2,2]"},
	"one more": {func(o []tensor.Tensor) []tensor.Tensor { return append(o, o[0]) },
		"Outcome brings [f32[2,2] f64[1,5] f64[5] f32[2,2]], want"},
	"one less": {func(o []tensor.Tensor) []tensor.Tensor { return o[:2] },
		"Outcome brings [f32[2,2] f64[1,5]], want"},
	"none": {func([]tensor.Tensor) []tensor.Tensor { return nil },
		"Outcome has no error and comes with 0 tensors, want [f32[2,2] f64[1,5] f64[5]]"},
	"order": {func(o []tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{o[0], o[2], o[1]} },
		"Outcome brings [f32[2,2] f64[5] f64[1,5]], want"},
	"count": {func(o []tensor.Tensor) []tensor.Tensor { o[1].F64()[0] = 3; return o },
		"output m: replica 0 of 2 rows counts 3 values; due are 2"},
}

// spoilt is a provider of devices with wrong results.
type spoilt struct{ ref.Provider }

func (p spoilt) Open(ctx context.Context, id string, o device.Options) (device.Device, error) {
	d, err := p.Provider.Open(ctx, id, o)
	return spoiltDevice{d}, err
}

type spoiltDevice struct{ device.Device }

func (d spoiltDevice) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable,
	error) {
	x, err := d.Device.Load(ctx, p, c)
	return spoiltExecutable{x}, err
}

type spoiltExecutable struct{ device.Executable }

func (x spoiltExecutable) Run(ctx context.Context, s device.Step) (device.Outcome, error) {
	o, err := x.Executable.Run(ctx, s)
	if err == nil {
		if how := os.Getenv(spoilKey); spoils[how].change != nil {
			o.Outputs = spoils[how].change(o.Outputs)
		} else {
			lies[how](&o)
		}
	}
	return o, err
}

// TestOutputsThatAreNotDue checks that the outputs of a run are compared with the program. A
// device with other outputs is lost, and the error names the received output and the expected one.
func TestOutputsThatAreNotDue(t *testing.T) {
	for how, want := range spoils {
		for _, level := range levels {
			t.Setenv(spoilKey, how)
			d := open(t, start(t, "spoilt", level))
			_, err := load(t, d, regression(t)).Run(t.Context(), step(1, 2))
			if !errors.Is(err, device.Lost) || !strings.Contains(err.Error(), want.says) {
				t.Errorf("%s, %s: %v, want a lost device and %q", how, level, err, want.says)
			}
		}
	}
}
