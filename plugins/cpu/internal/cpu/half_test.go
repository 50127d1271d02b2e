package cpu

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/tensor"
)

// fourBytes makes a device store all maps of bfloat16 in four bytes per element.
func fourBytes(d device.Device) device.Device {
	backendOf(d).machine.FourBytes = true
	return d
}

// halvesOf returns how many values of a loaded program are halves.
func halvesOf(x device.Executable) (n int) {
	for _, fn := range runnerOf(x).functions {
		for i := range fn.Graph().Values {
			if fn.Value(graph.Value(i)).IsHalf() {
				n++
			}
		}
	}
	return n
}

// A step of training has the same bits whether maps of bfloat16 have two or four bytes per element.
func TestHalvesTrainSameBits(t *testing.T) {
	small := models.Size{Height: 32, Width: 32, Channels: 3}
	for _, c := range []struct {
		name  string
		input models.Size
	}{{"lenet-bn", models.Size{}}, {"resnet20", models.Size{}}, {"resnet18", small}, {"mobilenetv2", small}} {
		tr := newTrainer(t, openBF16(t, "auto", 1), c.name, 2, 1, c.input)
		if n := halvesOf(tr.Executable); n < 10 {
			t.Errorf("%s: %d halves", c.name, n)
		}
		tr.Close()
		for _, class := range classes() {
			if class != "fma" && c.name != "lenet-bn" {
				continue // skipped because it is slow
			}
			want := trainDigest(t, fourBytes(openBF16(t, class, 1)), c.name, c.input)
			if got := trainDigest(t, openBF16(t, class, 2), c.name, c.input); got != want {
				t.Errorf("%s, class %s: other bits than with maps of four bytes", c.name, class)
			}
		}
	}
}

// classes returns the kernel classes of this machine.
func classes() (all []string) {
	for _, set := range kernel.Sets() {
		if len(all) == 0 || all[len(all)-1] != set.Class {
			all = append(all, set.Class)
		}
	}
	return all
}

// Random programs, too, have the same bits with two and with four bytes per element, for any number of
// rows.
func TestHalvesRandomSameBits(t *testing.T) {
	some := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 97))
		p, err := randomProgram(r, 3+r.IntN(25))
		if err != nil {
			t.Fatal(err)
		}
		x, err := openBF16(t, "auto", 1).Load(context.Background(), p, device.Capacity{Rows: 1, Replicas: 1})
		if err != nil {
			t.Fatal(err)
		}
		some += halvesOf(x)
		rows := []int{1 + r.IntN(3), r.IntN(2), r.IntN(5)}
		for _, class := range classes() {
			want := evaluate(t, fourBytes(openBF16(t, class, 1)), p, rows, 0, len(rows))
			for _, threads := range []int{1, 3} {
				got := evaluate(t, openBF16(t, class, threads), p, rows, 0, len(rows))
				for i := range want {
					if !tensor.Equal(got[i], want[i]) {
						t.Errorf("seed %d, class %s, %d threads: output %d has other bits than with maps of four bytes\n%s",
							seed, class, threads, i, p.Text())
					}
				}
			}
		}
	}
	if some == 0 {
		t.Error("no program has halves")
	}
}

// Winograd tiles, too, have the same bits with two and with four bytes per element. This includes tiles
// that windows compute because the range of their values or weights is too wide.
func TestHalvesTilesSameBits(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	for _, c := range []struct{ in, out, high, wide int }{{32, 48, 8, 12}, {32, 32, 24, 24}, {64, 80, 8, 8}} {
		x := randomTensor(r, tensor.F32, []int{3, c.in, c.high, c.wide})
		w := randomTensor(r, tensor.F32, []int{c.out, c.in, 3, 3})
		apart := w.Clone()
		for i := 4; i < len(apart.F32()); i += 9 {
			apart.F32()[i] *= 1e6
		}
		poisoned := x.Clone()
		for _, at := range []int{0, 5*c.wide + 7, (c.in+3)*c.high*c.wide - 1} {
			poisoned.F32()[at] = 0x1p40
		}
		for _, x := range []tensor.Tensor{x, poisoned} {
			for _, w := range []tensor.Tensor{w, apart} {
				want := convolved(t, fourBytes(openBF16(t, "auto", 1)), x, w, 1)
				for _, threads := range []int{1, 5} {
					if !tensor.Equal(convolved(t, openBF16(t, "auto", threads), x, w, 1), want) {
						t.Errorf("%+v, %d threads: other bits than with maps of four bytes", c, threads)
					}
				}
			}
		}
	}
}
