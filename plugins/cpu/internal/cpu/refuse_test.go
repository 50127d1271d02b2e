package cpu

import (
	"context"
	"errors"
	"testing"

	"github.com/bnctl/bnctl/device"
)

// Programs that ask for too much are refused; nothing is allocated for them.
func TestRefusesTooMuch(t *testing.T) {
	for _, c := range []struct {
		opCase
		rows int
		want device.Kind
	}{
		{opCase{"upsample", "", "x rows f32[1,1,1]", "y = upsample(x, size=[1000000,1000000])\n"}, 1,
			device.Unsupported},
		{opCase{"channels", "", "x rows u8[1,1,1000000]", "y = image(x)\n"}, 1, device.Unsupported},
		{opCase{"taps", "", "x rows f32[1,90000,90000], dy rows f32[1,1,1]",
			"y = conv_grad_weight(x, dy, kernel=[90000,90000])\n"}, 1, device.Unsupported},
		{opCase{"state", "state w f32[300000,300000] constant\n", "x rows f32[300000]", "y = dense(x, @w)\n"}, 1,
			device.OutOfMemory},
		{opCase{"rows", "", "x rows f32[1000000]", "y = relu(x)\n"}, 1 << 30, device.OutOfMemory},
		{opCase{"more rows than an int counts bytes", "", "x rows f32[1000000]", "y = relu(x)\n"}, 1 << 60,
			device.OutOfMemory},
		{opCase{"negative rows", "", "x rows f32[1]", "y = relu(x)\n"}, -1, device.Invalid},
	} {
		x, err := openSet(t, "auto", 2).Load(context.Background(), program(t, c.opCase),
			device.Capacity{Rows: c.rows, Replicas: 1})
		if x != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: Load returned %v, want an error of kind %v", c.name, err, c.want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		id   string
		o    device.Options
		want device.Kind
	}{
		{"1", device.Options{}, device.Invalid},
		{device.DefaultID, device.Options{Kernels: "amx9"}, device.Invalid},
		{device.DefaultID, device.Options{Threads: -1}, device.Invalid},
		{device.DefaultID, device.Options{Threads: mostThreads + 1}, device.Invalid},
		{device.DefaultID, device.Options{Precision: "f16"}, device.Unsupported},
	} {
		if _, err := (Provider{}).Open(context.Background(), c.id, c.o); !errors.Is(err, c.want) {
			t.Errorf("Open(%q, %+v) returned %v, want an error of kind %v", c.id, c.o, err, c.want)
		}
	}
}
