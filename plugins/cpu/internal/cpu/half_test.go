package cpu

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/plugins/cpu/internal/kernel"
	"github.com/bnctl/bnctl/tensor"
)

// fourBytes has a device keep all maps of bfloat16 in four bytes.
func fourBytes(d device.Device) device.Device {
	d.(*Device).fourBytes = true
	return d
}

// halvesOf returns how many values of a loaded program are halves.
func halvesOf(x device.Executable) (n int) {
	for _, fn := range x.(*Executable).functions {
		for _, v := range fn.values {
			if v.half {
				n++
			}
		}
	}
	return n
}

// Two bytes an element or four: not a bit of a step of training depends on it.
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
			if class == kernel.Generic.Class && c.name != "lenet-bn" {
				continue // slow
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

// Nor does it matter to programs of any order, however few the rows are.
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
