package onnx

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects/anchors"
	"github.com/bnctl/bnctl/objects/cells"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

var keep = flag.Bool("keep", false, "TestPeerSuppressed writes testdata/suppressed.json")

// suppressedBox is a box of ONNX Runtime.
type suppressedBox struct {
	Corners [4]float32
	Score   float32
	Class   int
}

// suppressedCases are detectors and the options for their boxes. The prediction of a
// detector consists of the first numbers of its input, a picture of 64 x 64. If steps is 0,
// the numbers are from -1 to 1. Otherwise they are multiples of 1/steps, so that many
// scores are equal.
var suppressedCases = []struct {
	name    string
	classes int
	steps   float64
	options cells.Options
	form    graph.BoxForm
}{
	{"default", 3, 0, cells.Options{Score: 0.3, Overlap: 0.45, Most: 300}, graph.YOLOXForm},
	{"all", 3, 0, cells.Options{Score: 0, Overlap: 0.65, Most: 300}, graph.YOLOXForm},
	{"most", 3, 0, cells.Options{Score: 0.1, Overlap: 0.65, Most: 7}, graph.YOLOXForm},
	{"one class", 1, 0, cells.Options{Score: 0.2, Overlap: 0.3, Most: 300}, graph.YOLOXForm},
	{"ties", 4, 2, cells.Options{Score: 0.25, Overlap: 0.5, Most: 300}, graph.YOLOXForm},
	{"no box", 3, 0, cells.Options{Score: 1, Overlap: 0.45, Most: 300}, graph.YOLOXForm},
	{"fcos", 3, 0, cells.Options{Score: 0.5, Overlap: 0.6, Most: 100}, graph.FCOSForm},
	{"retinanet", 3, 0, cells.Options{Score: 0.6, Overlap: 0.5, Most: 300}, graph.RetinaNetForm},
	{"retinanet v2", 2, 0, cells.Options{Score: 0.7, Overlap: 0.4, Most: 300}, graph.RetinaNetV2Form},
	{"ssd", 3, 0, cells.Options{Score: 0.2, Overlap: 0.55, Most: 300}, graph.SSDForm},
	{"ssd, one class", 1, 0, cells.Options{Score: 0.3, Overlap: 0.45, Most: 300}, graph.SSDForm},
}

// detectorOf returns the detector and the picture for a case. FCOS has no negative
// distances.
func detectorOf(t *testing.T, form graph.BoxForm, classes int, steps float64) (*models.Model, tensor.Tensor) {
	slots, err := anchors.New(form, 64, 64)
	if err != nil {
		t.Fatal(err)
	}
	rows, n, boxes := form.Fields()+classes, slots.Len(), "boxes"
	if form == graph.FCOSForm {
		boxes = "distances"
	}
	m := fromText(t, fmt.Sprintf(`bnctl graph 1
graph "detector"
func main(x rows f32[3,64,64]) {
  flat = reshape(x, shape=[12288])
  part = slice(flat, begin=[0], end=[%d])
  rows = reshape(part, shape=[%d,%d])
  scaled = affine(rows, by=2)
  boxes = slice(scaled, begin=[0,0], end=[4,%d])
  distances = relu(boxes)
  logits = slice(scaled, begin=[4,0], end=[%d,%d])
  all = concat(%s, logits, axis=0)
  return %s rows = all
}
`, rows*n, rows, n, n, rows, n, boxes, form))
	x, draw := ramp(m, 1), rand.New(rand.NewPCG(1, 2))
	for i, v := range x.F32() {
		if form != graph.YOLOXForm { // random, so that no two scores are nearly equal
			x.F32()[i] = float32(2*draw.Float64() - 1)
		} else if steps > 0 {
			x.F32()[i] = float32(math.Round(float64(v)*steps) / steps)
		}
	}
	return m, x
}

// suppressedFile writes a detector with its suppression.
func suppressedFile(t *testing.T, m *models.Model, o cells.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteSuppressed(&b, m, DefaultOpset, o); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.onnx")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// boxesOf returns the boxes in three outputs of a file.
func boxesOf(boxes, scores, labels tensor.Tensor) (all []suppressedBox) {
	for i, score := range scores.F32() {
		all = append(all, suppressedBox{[4]float32(boxes.F32()[4*i:]), score, int(labels.I64()[i])})
	}
	return all
}

// compareBoxes compares boxes to within 1e-3 of a pixel. Boxes with equal scores may be in
// any order.
func compareBoxes(t *testing.T, what string, got, want []suppressedBox) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d boxes, want %d", what, len(got), len(want))
		return
	}
	falling := func(a, b suppressedBox) int { return cmp.Compare(b.Score, a.Score) }
	if !slices.IsSortedFunc(got, falling) {
		t.Errorf("%s: scores are not sorted", what)
	}
	left := slices.Clone(got)
	for i, w := range want {
		at := slices.IndexFunc(left, func(b suppressedBox) bool {
			d := math.Abs(float64(b.Score-w.Score)) * 100
			for k, v := range w.Corners {
				d = max(d, math.Abs(float64(b.Corners[k]-v)))
			}
			return d <= 1e-3 && b.Class == w.Class
		})
		if at < 0 {
			t.Errorf("%s: box %d, %v, is missing in %v", what, i, w, left)
			return
		}
		left = slices.Delete(left, at, at+1)
	}
}

// detections returns the boxes that cells.Grid finds in the output of a model.
func detections(t *testing.T, m *models.Model, x tensor.Tensor, o cells.Options) (all []suppressedBox) {
	t.Helper()
	outs, err := evalF32(m, x)
	if err != nil {
		t.Fatal(err)
	}
	height, width := m.PictureSides()
	slots, err := anchors.New(m.BoxForm(), height, width)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range slots.Detections(outs[0].F32(), o) {
		all = append(all, suppressedBox{d.Corners, d.Score, d.Class})
	}
	return all
}

// TestSuppressed: the boxes of a detector, and the outputs of the file with its non-maximum
// suppression when it is read again, are the boxes that ONNX Runtime finds with that file.
func TestSuppressed(t *testing.T) {
	b, err := os.ReadFile("testdata/suppressed.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string][]suppressedBox
	if err := json.Unmarshal(b, &golden); err != nil {
		t.Fatal(err)
	}
	for _, c := range suppressedCases {
		m, x := detectorOf(t, c.form, c.classes, c.steps)
		want := golden[c.name]
		if c.name != "no box" && len(want) < 7 {
			t.Errorf("%s: only %d boxes", c.name, len(want))
		}
		compareBoxes(t, c.name, detections(t, m, x, c.options), want)

		again, err := opened(suppressedFile(t, m, c.options))
		if err != nil {
			t.Fatal(err)
		}
		if l := again.BoxLayout(); l != models.Suppressed {
			t.Errorf("%s: layout %q", c.name, l)
		}
		outs, err := evalF32(again, x)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := again.FileRows(outs)
		if err != nil {
			t.Fatal(err)
		}
		compareBoxes(t, c.name+", read again", boxesOf(rows[0][0], rows[0][1], rows[0][2]), want)
	}
}

// TestSuppressedIsForDetectors: other models are refused.
func TestSuppressedIsForDetectors(t *testing.T) {
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	var p *problem.Error
	err = WriteSuppressed(&bytes.Buffer{}, m, DefaultOpset, cells.Options{})
	if !errors.As(err, &p) || p.Field != "nms" {
		t.Errorf("%v", err)
	}
}

// TestPeerSuppressed: ONNX Runtime finds the same boxes with the written file as bnctl with
// the model.
func TestPeerSuppressed(t *testing.T) {
	needPeers(t)
	golden := map[string][]suppressedBox{}
	compare := func(name string, m *models.Model, x tensor.Tensor, o cells.Options) {
		path := suppressedFile(t, m, o)
		check := "import onnx, sys; m = onnx.load(sys.argv[1]); onnx.checker.check_model(m, full_check=True)"
		if out, err := exec.Command("/usr/bin/python3", "-c", check, path).CombinedOutput(); err != nil {
			t.Fatalf("onnx.checker: %v\n%s", err, out)
		}
		outs := ort(t, path, x)
		golden[name] = boxesOf(outs["boxes"], outs["scores"], outs["labels"])
		compareBoxes(t, name, detections(t, m, x, o), golden[name])
		t.Logf("%s: %d boxes", name, len(golden[name]))
	}
	for _, c := range suppressedCases {
		m, x := detectorOf(t, c.form, c.classes, c.steps)
		compare(c.name, m, x, c.options)
	}
	if *keep {
		b, err := json.Marshal(golden)
		if err == nil {
			err = os.WriteFile("testdata/suppressed.json", append(b, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	m, err := models.Build("yolox-nano", models.Options{Classes: 5,
		Input: models.Size{Height: 96, Width: 64, Channels: 3}})
	if err == nil {
		err = models.Init(m, 7)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range m.State {
		if ok, _ := filepath.Match("head.*_preds.*.bias", name); ok { // so that probabilities are near a half
			clear(s.Bytes)
		}
	}
	compare("yolox-nano", m, ramp(m, 1), cells.Options{Score: 0.2, Overlap: 0.45, Most: 300})
	if len(golden["yolox-nano"]) < 10 {
		t.Errorf("yolox-nano has only %d boxes", len(golden["yolox-nano"]))
	}
}
