package server

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

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
