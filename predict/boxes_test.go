package predict_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/objects/detect"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// detector returns a detector of the zoo with random weights and scores that are far apart.
func detector(t *testing.T, name string, height, width int) *models.Model {
	t.Helper()
	size := models.Size{Height: height, Width: width, Channels: 3}
	m, err := models.Build(name, models.Options{Input: size, Classes: 5})
	if err == nil {
		err = models.Init(m, 7)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for key, w := range m.State {
		if strings.HasSuffix(key, ".bias") && w.DType == tensor.F32 && strings.Contains(key, "head") && !strings.Contains(key, "reg") {
			for i := range w.F32() {
				w.F32()[i] += float32(2 + 2*r.NormFloat64())
			}
		}
	}
	return m
}

func pictures(rows, height, width int) tensor.Tensor {
	x, r := tensor.New(tensor.U8, rows, height, width, 3), rand.New(rand.NewPCG(5, uint64(rows)))
	for i := range x.Bytes {
		x.Bytes[i] = byte(r.Uint32())
	}
	return x
}

// boxesOf returns the boxes of pictures that the devices find, or the host if on is false.
func boxesOf(t *testing.T, m *models.Model, x tensor.Tensor, devices string, threads int, o cells.Options,
	on bool) (all [][]detect.Box) {
	t.Helper()
	options := predict.Options{Fleet: fleet.Options{Devices: devices, Threads: threads}, Batch: x.Shape[0]}
	if on {
		options.Boxes = &o
	}
	p, err := predict.Open(t.Context(), m, options)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	outs, err := p.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	d, err := detect.New(m, o)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := m.FileRows(outs)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if on && row[0].Count() != 6*(1+o.Most) {
			t.Fatalf("%v leaves the device", row[0])
		}
		found, err := d.Boxes(row, x.Shape[1], x.Shape[2])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found)
	}
	return all
}

// TestBoxesOfDevices: devices and the host find the same boxes, bit for bit.
func TestBoxesOfDevices(t *testing.T) {
	for _, name := range []string{"yolox-nano", "ssdlite320-mobilenetv3-large", "fcos-resnet50-fpn",
		"retinanet-resnet50-fpn-v2"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, seen := detector(t, name, 64, 96), 0
			for n, o := range []cells.Options{{Score: 0.01, Overlap: 0.65, Most: 100},
				{Score: 0.3, Overlap: 0.45, Most: 300}, {Score: 0, Overlap: 0, Most: 7}} {
				x := pictures(1+n%2*2, 64, 96)
				want := boxesOf(t, m, x, "cpu", 1, o, false)
				got := boxesOf(t, m, x, []string{"cpu", "2xcpu"}[n%2], 1+n/2, o, true)
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%+v: %s", o, difference(got, want))
				}
				for _, found := range want {
					seen += len(found)
				}
			}
			if seen < 20 {
				t.Errorf("only %d boxes were compared", seen)
			}
		})
	}
}

func difference(got, want [][]detect.Box) string {
	for i := range want {
		for k := range max(len(got[i]), len(want[i])) {
			if k >= len(got[i]) || k >= len(want[i]) || got[i][k] != want[i][k] {
				return fmt.Sprintf("row %d: %d boxes, want %d, first at %d", i, len(got[i]), len(want[i]), k)
			}
		}
	}
	return ""
}
