package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects/anchors"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/objects/detect"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// newDetector returns a detector of two classes, with random weights.
func newDetector(t *testing.T) *models.Model {
	t.Helper()
	m, err := models.Build("yolox-nano", models.Options{Input: models.Size{Height: 64, Width: 64, Channels: 3}, Classes: 2})
	if err == nil {
		err = models.Init(m, 3)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.Labels = []string{"<b>", "cell"}
	return m
}

// TestDetect compares the boxes in a response with the boxes in the model's output for the same picture. The
// boxes in the response are in pixels of the picture.
func TestDetect(t *testing.T) {
	m, file := newDetector(t), photo(t, 130, 90)
	s := start(t, on("ref", write(t, m, "m.bnm")))
	r := ask(t, s, "POST", "/v2/models/m/detect?score=0.00001&overlap=0.5", file)
	var got detection
	if err := json.Unmarshal(r.body, &got); err != nil || r.status != 200 {
		t.Fatalf("%d %.200s: %v", r.status, r.body, err)
	}
	kind := ask(t, s, "GET", "/v2/models/m/activity", nil)
	if !strings.Contains(string(kind.body), `"answers":"boxes"`) {
		t.Errorf("activity: %.300s", kind.body)
	}
	d, err := detect.New(m, cells.Options{Score: 0.00001, Overlap: 0.5, Most: detect.Default.Most})
	if err != nil {
		t.Fatal(err)
	}
	p, src := predictor(t, m, "ref"), inputOf(t, file)
	defer src.Close()
	var want []detect.Box
	if _, err := p.All(t.Context(), src, predict.Reading{}, func(_ int, outs []tensor.Tensor) (err error) {
		want, err = d.Boxes(outs, 90, 130)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if got.Width != 130 || got.Height != 90 || len(want) == 0 || len(got.Boxes) != len(want) {
		t.Fatalf("%d x %d, %d boxes, want %d", got.Width, got.Height, len(got.Boxes), len(want))
	}
	furthest := 0.0
	for i, b := range got.Boxes {
		if b != want[i] {
			t.Errorf("box %d is %+v, want %+v", i, b, want[i])
		}
		furthest = max(furthest, b.Corners[2])
	}
	if furthest <= 64 || furthest > 130 {
		t.Errorf("the boxes end at %g of 130 pixels", furthest)
	}
}

// TestDetectOfEveryForm serves a network for each form of box outputs in the zoo. The networks return the
// pixels of their input as predictions.
func TestDetectOfEveryForm(t *testing.T) {
	for form, classes := range map[graph.BoxForm]int{graph.FCOSForm: 2, graph.RetinaNetForm: 3,
		graph.RetinaNetV2Form: 1, graph.SSDForm: 2} {
		slots, err := anchors.New(form, 64, 64)
		if err != nil {
			t.Fatal(err)
		}
		rows, n := form.Fields()+classes, slots.Len()
		g, err := graph.ParseGraph(fmt.Appendf(nil, `bnctl graph 1
graph "detector"
func main(x rows u8[64,64,3]) {
  image = image(x)
  flat = reshape(image, shape=[12288])
  part = slice(flat, begin=[0], end=[%d])
  rows = reshape(part, shape=[%d,%d])
  return %s rows = rows
}
`, rows*n, rows, n, form))
		if err != nil {
			t.Fatal(err)
		}
		m, err := models.New(g)
		if err != nil {
			t.Fatal(err)
		}
		s := start(t, on("ref", write(t, m, "m.bnm")))
		r := ask(t, s, "POST", "/v2/models/m/detect?score=0.4", photo(t, 64, 64))
		var got detection
		if err := json.Unmarshal(r.body, &got); err != nil || len(got.Boxes) == 0 {
			t.Errorf("%s: %d %.200s: %v", form, r.status, r.body, err)
			continue
		}
		x, in := pixelsOf(t, s, photo(t, 64, 64))
		numbers := strings.Join(strings.Fields(fmt.Sprint(x.Bytes)), ",")
		r = ask(t, s, "POST", "/v2/models/m/infer", fmt.Appendf(nil, `{"parameters":{"score":0.4},"inputs":[{
"name":%q,"datatype":"UINT8","shape":[1,64,64,3],"data":%s}],"outputs":[{"name":"scores"},{"name":"labels"}]}`,
			in.Name, numbers))
		var rowsOf boxesOf
		if err := json.Unmarshal(r.body, &rowsOf); err != nil || len(rowsOf.Outputs) != 2 {
			t.Fatalf("%s: %d %.200s: %v", form, r.status, r.body, err)
		}
		for i, b := range got.Boxes {
			if float32(rowsOf.Outputs[0].Data[i]) != b.Score || int(rowsOf.Outputs[1].Data[i]) != b.Index {
				t.Errorf("%s: box %d is %+v, in an inference request %v", form, i, b, rowsOf.Outputs[0].Data[i])
			}
		}
	}
}

func TestDetectRefuses(t *testing.T) {
	boxes, masks := on("ref", write(t, newDetector(t), "m.bnm")), on("ref", write(t, newSegmenter(t), "m.bnm"))
	file := photo(t, 40, 40)
	detector, segmenter := start(t, boxes), start(t, masks)
	for _, c := range []struct {
		s          *Server
		path, want string
	}{
		{segmenter, "detect", "predicts no boxes; ask with classify, segment or infer"},
		{detector, "classify", "predicts boxes; ask with detect"},
		{detector, "detect?score=2", "want a number from 0 to 1"},
		{detector, "detect?overlap=NaN", "want a number from 0 to 1"},
	} {
		r := ask(t, c.s, "POST", "/v2/models/m/"+c.path, file)
		if r.status != 400 || !strings.Contains(string(r.body), c.want) {
			t.Errorf("%s: %d %s, want %s", c.path, r.status, r.body, c.want)
		}
	}
}

// TestDetectOfASickModel checks that a model with NaN or infinity in its output gives an error, not an empty
// list of boxes.
func TestDetectOfASickModel(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		m := newDetector(t)
		m.State["head.obj_preds.0.bias"].F32()[0] = float32(bad)
		o := on("ref", write(t, m, "m.bnm"))
		o.AllowSick = true
		r := ask(t, start(t, o), "POST", "/v2/models/m/detect", photo(t, 130, 90))
		if r.status != 500 || !strings.Contains(string(r.body), "is not finite") {
			t.Errorf("%v: %d %.200s", bad, r.status, r.body)
		}
	}
}

// TestDetectWithManyLimits sends requests with different limits, and requests for the network's output, at
// the same time. Each must get the boxes that the host finds in the network's output with its limits. The
// devices compute boxes, or one of them or all lack graph.Detect.
func TestDetectWithManyLimits(t *testing.T) {
	m, file := newDetector(t), photo(t, 64, 64)
	for _, c := range []struct {
		devices string
		lacks   bool // the last device lacks graph.Detect
	}{{"cpu", false}, {"2xcpu", false}, {"2xcpu", true}, {"cpu", true}} {
		f, err := fleet.Open(t.Context(), fleet.Options{Devices: c.devices, Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		if last := &f.Members[len(f.Members)-1]; c.lacks {
			last.Device = withoutDetect{last.Device}
		}
		o := on("", write(t, m, "m.bnm"))
		o.Predict.Opened, o.Delay = f, 2*time.Millisecond
		s := start(t, o)
		if v := s.allVersions()[0]; v.onDevice == c.lacks {
			t.Errorf("%s: boxes on devices: %v", c.devices, v.onDevice)
		}
		x, in := pixelsOf(t, s, file)
		p := predictor(t, m, "cpu")
		raw, err := p.Predict(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		numbers := strings.Join(strings.Fields(fmt.Sprint(x.Bytes)), ",")
		var all sync.WaitGroup
		for i := range 24 {
			l := cells.Options{Score: float32(i) / 3e5, Overlap: 1 - float32(i)/24, Most: detect.Default.Most}
			all.Go(func() {
				want := boxesIn(t, m, l, raw[0])
				limits := fmt.Sprintf("score=%g&overlap=%g", l.Score, l.Overlap)
				var got detection
				switch i % 3 {
				case 0:
					r := ask(t, s, "POST", "/v2/models/m/detect?"+limits, file)
					if err := json.Unmarshal(r.body, &got); err != nil || !slices.Equal(got.Boxes, want) {
						t.Errorf("%s, %s: %d boxes, want %d, %v", c.devices, limits, len(got.Boxes), len(want), err)
					}
				case 1:
					r := ask(t, s, "POST", "/v2/models/m/infer", fmt.Appendf(nil, `{"parameters":{"score":%g,
"overlap":%g},"inputs":[{"name":%q,"datatype":"UINT8","shape":[1,64,64,3],"data":%s}],"outputs":[
{"name":"count"}]}`, l.Score, l.Overlap, in.Name, numbers))
					var got boxesOf
					if err := json.Unmarshal(r.body, &got); err != nil || int(got.Outputs[0].Data[0]) != len(want) {
						t.Errorf("%s, %s: %.200s, want %d boxes", c.devices, limits, r.body, len(want))
					}
				case 2:
					r := ask(t, s, "POST", "/v2/models/m/predict", x.Bytes, jsonLength, "0")
					if !bytes.HasSuffix(r.body, raw[0].Bytes) {
						t.Errorf("%s: another output", c.devices)
					}
				}
			})
		}
		all.Wait()
	}
}

// boxesIn returns the boxes in one row of the output of m.
func boxesIn(t *testing.T, m *models.Model, o cells.Options, x tensor.Tensor) []detect.Box {
	d, err := detect.New(m, o)
	if err != nil {
		t.Error(err)
		return nil
	}
	x.Shape = x.Shape[1:]
	found, err := d.Boxes([]tensor.Tensor{x}, 64, 64)
	if err != nil || len(found) == 0 {
		t.Errorf("%d boxes, %v", len(found), err)
	}
	return found
}

// withoutDetect is a device without graph.Detect.
type withoutDetect struct{ device.Device }

func (d withoutDetect) Load(ctx context.Context, p *graph.Program, c device.Capacity) (
	device.Executable, error) {
	for _, f := range p.Functions {
		for i := range f.Nodes {
			if n := &f.Nodes[i]; n.Op == graph.Detect {
				refused := &device.Refused{Nodes: []device.Refusal{{Function: f.Name, Node: f.NodeName(n), Op: n.Op}}}
				return nil, device.Errorf("it", "Load", device.Unsupported, "%w", refused)
			}
		}
	}
	return d.Device.Load(ctx, p, c)
}
