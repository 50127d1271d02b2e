package cuda

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/gpu"
	"github.com/bnctl/bnctl/tensor"
)

// bytesLayer is a convolution of bytes, or a dense layer if its kernel is 0.
type bytesLayer struct {
	rows                 int
	c, h, w, o           int
	kh, kw               int
	stride, pad          int
	dilation             int
	zero, least, most, x int // zero and bounds of the result, zero of the map
	float                bool
	full                 bool // bytes of 255 and weights of -128 and 127
}

func (l bytesLayer) String() string {
	return fmt.Sprintf("%d rows of %dx%dx%d to %d, %dx%d, stride %d, padding %d, dilation %d, x_zero %d, float %v, "+
		"full %v", l.rows, l.c, l.h, l.w, l.o, l.kh, l.kw, l.stride, l.pad, l.dilation, l.x, l.float, l.full)
}

// unitLayers are layers on both sides of the edges of tiles: 128 and 256 positions of all images, 64 and 32
// output channels, 16 channels of a bundle, 64 terms of a chunk (of 4 taps each with up to 4 channels).
func unitLayers() (list []bytesLayer) {
	conv := func(rows, c, h, w, o, k, pad int) bytesLayer {
		return bytesLayer{rows: rows, c: c, h: h, w: w, o: o, kh: k, kw: k, stride: 1, pad: pad, dilation: 1,
			most: 255}
	}
	for _, rows := range []int{1, 2, 3} { // positions: 127, 128, 129, 254 ...; bytes and words stored
		for _, size := range [][2]int{{1, 127}, {8, 16}, {3, 43}, {5, 17}, {7, 7}} {
			list = append(list, conv(rows, 19, size[0], size[1], 33, 1, 0), conv(rows, 7, size[0], size[1], 9, 1, 0))
		}
	}
	for _, o := range []int{1, 7, 8, 16, 17, 31, 32, 33, 63, 64, 65, 128, 129} {
		list = append(list, conv(1, 24, 3, 4, o, 1, 0), conv(2, 3, 5, 5, o, 3, 1))
	}
	for _, c := range []int{1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 127, 128, 129, 200} {
		list = append(list, conv(1, c, 4, 4, 35, 1, 0), conv(1, c, 4, 5, 10, 3, 1))
	}
	sizes := [][2]int{{1, 2}, {1, 3}, {2, 2}, {1, 5}, {3, 5}, {4, 4}, {1, 17}, {4, 8}, {3, 11}, {7, 7}}
	for _, size := range sizes {
		l := conv(1, 3, 9, 18, 36, 0, 3) // few channels: 4 taps of a bundle, 16 of a chunk
		l.kh, l.kw = size[0], size[1]
		deep := l
		deep.c, deep.o = 20, 12
		list = append(list, l, deep)
	}
	for _, l := range []bytesLayer{
		conv(2, 18, 9, 8, 40, 3, 1), conv(2, 2, 9, 8, 40, 3, 2), conv(3, 33, 7, 7, 12, 1, 0),
	} {
		for _, change := range []func(*bytesLayer){
			func(l *bytesLayer) { l.stride = 2 },
			func(l *bytesLayer) { l.dilation = 2 },
			func(l *bytesLayer) { l.x, l.zero = 117, 9 },
			func(l *bytesLayer) { l.x, l.zero, l.least, l.most = 255, 100, 90, 180 },
			func(l *bytesLayer) { l.x, l.float = 30, true },
			func(l *bytesLayer) { l.x, l.zero, l.full = 3, 128, true },
		} {
			other := l
			change(&other)
			list = append(list, other)
		}
	}
	for _, rows := range []int{1, 5, 127, 128, 129} { // each row is a position
		for _, c := range []int{3, 16, 17, 64, 100} {
			list = append(list, bytesLayer{rows: rows, c: c, o: 10 + rows%2*55, most: 255, x: 5, zero: 90,
				float: c == 64, full: c == 100})
		}
	}
	return append(list, bytesLayer{rows: 3, c: 2000, o: 70, most: 255, x: 1, zero: 128, full: true})
}

// program returns a program with the layer, its state and its inputs.
func (l bytesLayer) program(t *testing.T) (*graph.Program, map[string]tensor.Tensor, tensor.Tensor) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(l.c), uint64(l.o)))
	p, taps := &graph.Program{Name: "layer"}, max(1, l.kh*l.kw)
	b := graph.NewBuilder("predict", &p.State)
	shape, weight, op := []int{l.c, l.h, l.w}, []int{l.o, l.c, l.kh, l.kw}, graph.ConvInt8
	if l.kh == 0 {
		shape, weight, op = shape[:1], weight[:2], graph.DenseInt8
	}
	state := map[string]tensor.Tensor{"w": tensor.New(tensor.I8, weight...), "b": tensor.New(tensor.I32, l.o),
		"by": tensor.New(tensor.F32, l.o)}
	for i := range state["w"].Bytes {
		state["w"].Bytes[i] = byte(r.Uint32())
		if l.full {
			state["w"].Bytes[i] = []byte{127, 128}[i/(l.c*taps)%3%2]
		}
	}
	for o := range l.o {
		state["b"].I32()[o] = int32(r.IntN(2001) - 1000)
		state["by"].F32()[o] = float32((0.5 + r.Float64()) / float64(16*l.c*taps))
		if o%4 == 0 {
			state["by"].F32()[o] = 1.0 / 1024
		}
	}
	x := tensor.New(tensor.U8, append([]int{l.rows}, shape...)...)
	for i := range x.Bytes {
		x.Bytes[i] = byte(r.Uint32())
		if l.full {
			x.Bytes[i] = 255 - byte(r.IntN(9)/8)
		}
	}
	attrs := graph.Attrs{}.With("x_zero", l.x).With("float", l.float)
	if !l.float {
		attrs = attrs.With("zero", l.zero).With("min", l.least).With("max", l.most)
	}
	if op == graph.ConvInt8 {
		attrs = attrs.With("stride", []int{l.stride, l.stride}).With("pad", []int{l.pad, l.pad, l.pad, l.pad}).
			With("dilation", []int{l.dilation, l.dilation})
	}
	in := []graph.Value{b.Input("x", graph.Type{Kind: graph.Rows, DType: tensor.U8, Shape: shape})}
	for _, name := range []string{"w", "b", "by"} {
		v := state[name]
		in = append(in, b.Declare(graph.State{Name: name, DType: v.DType, Shape: v.Shape, Role: graph.Constant}))
	}
	b.Output("y", b.Node(op, "y", attrs, in...)[0], false)
	f, err := b.Function()
	if err != nil {
		t.Fatalf("%v: %v", l, err)
	}
	p.Functions = []*graph.Function{f}
	return p, state, x
}

// compute returns the layer's result on a device.
func (l bytesLayer) compute(t *testing.T, d device.Device) (tensor.Tensor, error) {
	t.Helper()
	p, state, in := l.program(t)
	x, err := d.Load(t.Context(), p, device.Capacity{Rows: l.rows, Replicas: 1})
	if err != nil {
		return tensor.Tensor{}, err
	}
	defer x.Close()
	for name, v := range state {
		if err := x.Write(t.Context(), name, v); err != nil {
			return tensor.Tensor{}, err
		}
	}
	step := device.Step{Function: "predict", Rows: []int{l.rows}, Inputs: []tensor.Tensor{in}}
	out, err := x.Run(t.Context(), step)
	if err != nil {
		return tensor.Tensor{}, err
	}
	return out.Outputs[0], nil
}

// differs returns an error if a device's result is not the wanted one.
func (l bytesLayer) differs(t *testing.T, d device.Device, want tensor.Tensor) error {
	t.Helper()
	got, err := l.compute(t, d)
	if err != nil || bytes.Equal(got.Bytes, want.Bytes) {
		return err
	}
	n := 0
	for n < len(got.Bytes) && got.Bytes[n] == want.Bytes[n] {
		n++
	}
	return fmt.Errorf("byte %d differs: got %d, want %d", n, got.Bytes[n], want.Bytes[n])
}

// definition opens device/ref.
func definition(t *testing.T) device.Device {
	t.Helper()
	d, err := ref.Provider{}.Open(context.Background(), device.DefaultID, device.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// TestUnits checks that layers of bytes have the bits of device/ref by each way that a GPU multiplies: matrix
// units of 8.0 and of 7.5, dot products, and products of 32 bits.
func TestUnits(t *testing.T) {
	by, devices, layers := definition(t), map[string]device.Device{}, unitLayers()
	for _, capability := range []string{"6.0", "6.1", "7.5", "8.0"} {
		m, err := machineOf(capability)
		if err != nil {
			t.Fatal(err)
		}
		if units := capability >= "7"; m.Has("conv_int8_mma64") != units {
			t.Errorf("%s: matrix units %v, want %v", capability, !units, units)
		}
		devices[capability] = gpu.New(anyGPU, m)
	}
	for i, l := range layers {
		want, err := l.compute(t, by)
		if err != nil {
			t.Fatal(err)
		}
		for capability, d := range devices {
			if capability < "7" && i%16 > 0 { // TestCases and TestConformance have others
				continue
			}
			if err := l.differs(t, d, want); err != nil {
				t.Errorf("%s: %v: %v", capability, l, err)
			}
		}
	}
	t.Logf("%d layers", len(layers))
}
