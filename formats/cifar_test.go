package formats

import (
	"math"
	"os"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/internal/shareddata"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// TestPublishedLogits compares the logits of the published CIFAR ResNets for every
// stride-th of 500 test images with PyTorch's.
func TestPublishedLogits(t *testing.T) {
	for _, c := range []struct {
		file, logits string
		stride       int
	}{
		{"resnet20-12fca82f.th", "resnet20_logits_test500_pil.npy", 50},
		{"resnet56-4bfd9763.th", "resnet56_logits_test500_pil.npy", 250},
	} {
		f, err := Open(checkpoint(t, "pytorch/"+c.file), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m, err := Template(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		worst := worstLogit(t, m, c.logits, c.stride)
		if !(worst <= 1e-4) {
			t.Errorf("%s: a logit is off by %g, want at most 1e-4", c.file, worst)
		}
	}
}

func worstLogit(t *testing.T, m *models.Model, logits string, stride int) float64 {
	t.Helper()
	records, err := os.ReadFile(shareddata.File(t, "cifar10/cifar10_test500_pil.bin"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(shareddata.File(t, "cifar10/"+logits))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	want, err := data.ReadNPY(file)
	if err != nil {
		t.Fatal(err)
	}
	state := map[string]tensor.Tensor{}
	for name, s := range m.State {
		state[name] = doubled(s)
	}
	worst := 0.0
	for i := 0; i < 500; i += stride {
		out, err := ref.Eval64(m.Graph.Main, state, []tensor.Tensor{record(records, i)}, []int{1})
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range out[0].F64() {
			worst = max(worst, math.Abs(v-float64(want.F32()[10*i+k])))
		}
	}
	return worst
}

// record returns image i of a CIFAR-10 file, a label and then planes of red,
// green and blue, as pixels.
func record(records []byte, i int) tensor.Tensor {
	const plane = 32 * 32
	planes := records[i*(1+3*plane)+1:]
	x := tensor.New(tensor.U8, 1, 32, 32, 3)
	for p := range plane {
		for c := range 3 {
			x.Bytes[3*p+c] = planes[c*plane+p]
		}
	}
	return x
}
