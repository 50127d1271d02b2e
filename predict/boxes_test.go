package predict_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/graph"
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

// lacking is a device without graph.Detect.
type lacking struct{ device.Device }

func (d lacking) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	var refused device.Refused
	for _, f := range p.Functions {
		for i := range f.Nodes {
			if n := &f.Nodes[i]; n.Op == graph.Detect {
				refused.Nodes = append(refused.Nodes, device.Refusal{Function: f.Name, Node: f.NodeName(n), Op: n.Op,
					Why: "the test device does not have it"})
			}
		}
	}
	if len(refused.Nodes) > 0 {
		return nil, device.Errorf("lacking", "Load", device.Unsupported, "%w", &refused)
	}
	return d.Device.Load(ctx, p, c)
}

// TestPredictBoxes: a predictor that also finds boxes has the bits of one that only predicts, for rows with
// different limits, at the same time as predictions, and if a device or all devices lack graph.Detect.
func TestPredictBoxes(t *testing.T) {
	for _, name := range []string{"yolox-nano", "ssdlite320-mobilenetv3-large"} {
		m, x, most := detector(t, name, 64, 96), pictures(5, 64, 96), 50
		var options []cells.Options
		limits := tensor.New(tensor.F32, 5, 2)
		for i := range 5 {
			o := cells.Options{Score: float32(i) * 0.1, Overlap: 1 - float32(i)*0.2, Most: most}
			options = append(options, o)
			copy(limits.Rows(i, i+1).Bytes, detect.LimitRows(1, o).Bytes)
		}
		raw, seen := outputsOf(t, m, x), 0
		for _, c := range []struct {
			devices string
			lacks   []int // devices without graph.Detect
		}{{"cpu", nil}, {"2xcpu", nil}, {"2xcpu", []int{1}}, {"cpu", []int{0}}} {
			f, err := fleet.Open(t.Context(), fleet.Options{Devices: c.devices, Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range c.lacks {
				f.Members[i].Device = lacking{f.Members[i].Device}
			}
			p, err := predict.Open(t.Context(), m, predict.Options{Opened: f, Batch: 3, MostBoxes: most})
			if err != nil {
				t.Fatal(err)
			}
			if p.BoxesOnDevices() != (c.lacks == nil) {
				t.Errorf("%s: boxes on devices: %v", c.devices, p.BoxesOnDevices())
			}
			found, err := p.PredictBoxes(t.Context(), x, limits)
			if err != nil {
				t.Fatal(err)
			}
			outs, err := p.Predict(t.Context(), x)
			if err != nil || !bytes.Equal(outs[0].Bytes, raw[0].Bytes) {
				t.Errorf("%s without %v: other predictions, %v", c.devices, c.lacks, err)
			}
			for i, o := range options {
				want, got := rowBoxes(t, m, o, raw[0], i), rowBoxes(t, m, o, found, i)
				if seen += len(want); !reflect.DeepEqual(got, want) {
					t.Errorf("%s of %s without %v: %s", name, c.devices, c.lacks, difference([][]detect.Box{got},
						[][]detect.Box{want}))
				}
			}
			if err := errors.Join(p.Close(), f.Close()); err != nil {
				t.Error(err)
			}
		}
		if seen < 100 {
			t.Errorf("%s: only %d boxes were compared", name, seen)
		}
	}
}

// outputsOf returns the outputs of m on a CPU device.
func outputsOf(t *testing.T, m *models.Model, x tensor.Tensor) []tensor.Tensor {
	t.Helper()
	p, err := predict.Open(t.Context(), m,
		predict.Options{Fleet: fleet.Options{Devices: "cpu", Threads: 1}, Batch: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	outs, err := p.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	return outs
}

// rowBoxes returns the boxes of a row of predictions, or of boxes from PredictBoxes.
func rowBoxes(t *testing.T, m *models.Model, o cells.Options, x tensor.Tensor, row int) []detect.Box {
	t.Helper()
	d, err := detect.New(m, o)
	if err != nil {
		t.Fatal(err)
	}
	r := x.Rows(row, row+1)
	r.Shape = r.Shape[1:]
	found, err := d.Boxes([]tensor.Tensor{r}, 64, 96)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
