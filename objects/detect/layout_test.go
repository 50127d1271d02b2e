package detect_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/objects/detect"
	"github.com/bnctl/bnctl/tensor"
)

// foreign returns a model for pictures of 64 x 96 pixels, with the outputs of a detector from another
// program.
func foreign(t *testing.T, outputs ...models.OutputInfo) *models.Model {
	t.Helper()
	var table []graph.State
	b := graph.NewBuilder("main", &table)
	x := b.Input("image", graph.Type{Kind: graph.Rows, DType: tensor.U8, Shape: []int{64, 96, 3}})
	x = b.Op(graph.Image, "pixels", []graph.Value{x}, "scale", 1., "mean", []float64(nil), "std", []float64(nil))
	x = b.Op(graph.Reshape, "flat", []graph.Value{x}, "shape", []int{3 * 64 * 96})
	for _, o := range outputs {
		n := tensor.Count(o.Type.Shape)
		v := b.Op(graph.Slice, o.Name+".part", []graph.Value{x}, "begin", []int{0}, "end", []int{n})
		if o.Name != "logits" {
			v = b.Op(graph.Sigmoid, o.Name+".p", []graph.Value{v})
		}
		b.Output(o.Name, b.Op(graph.Reshape, o.Name, []graph.Value{v}, "shape", o.Type.Shape), false)
	}
	main, err := b.Function()
	if err != nil {
		t.Fatal(err)
	}
	return &models.Model{Architecture: "other", Graph: &graph.Graph{Name: "other", State: table, Main: main},
		Preprocess: models.Preprocess{Known: true, Letterbox: true}}
}

func floats(name string, shape ...int) models.OutputInfo {
	return models.OutputInfo{Name: name, Type: graph.Type{Kind: graph.Rows, DType: tensor.F32, Shape: shape}}
}

// cellsOf is the number of cells in a picture of 64 x 96 pixels, with cells of 8, 16 and 32 pixels.
const cellsOf = 8*12 + 4*6 + 2*3

// TestLayouts puts one box, with the corners 16, 24, 48, 56 and class 1 of 2, into the outputs of each
// layout. The picture has twice the size of the input, so that the coordinates in the result are doubled.
func TestLayouts(t *testing.T) {
	for _, c := range []struct {
		want    models.Layout
		outputs []models.OutputInfo
		fill    func(outs []tensor.Tensor)
		score   float32
	}{
		{models.YOLOv8, []models.OutputInfo{floats("output0", 6, cellsOf)}, func(outs []tensor.Tensor) {
			for row, v := range []float32{32, 40, 32, 32, 0.25, 0.75} {
				outs[0].F32()[row*cellsOf+17] = v
			}
		}, 0.75},
		{models.YOLOv5, []models.OutputInfo{floats("output", 3*cellsOf, 7)}, func(outs []tensor.Tensor) {
			copy(outs[0].F32()[7*300:], []float32{32, 40, 32, 32, 0.5, 0.25, 0.75})
		}, 0.375},
		// The cell in column 2 and row 3 has 16 pixels. The centre is (2+0)*16, (2.5+0)*16, and the sides are e^v *
		// 16.
		{models.YOLOX, []models.OutputInfo{floats("output", cellsOf, 7)}, func(outs []tensor.Tensor) {
			side := float32(math.Log(2))
			copy(outs[0].F32()[7*(96+2*6+2):], []float32{0, 0.5, side, side, 0.5, 0.25, 0.75})
		}, 0.375},
		{models.SSD, []models.OutputInfo{floats("scores", 10, 3), floats("boxes", 10, 4)},
			func(outs []tensor.Tensor) {
				copy(outs[0].F32()[3*4:], []float32{0.1, 0.2, 0.75})
				copy(outs[1].F32()[4*4:], []float32{16. / 96, 24. / 64, 48. / 96, 56. / 64})
			}, 0.75},
	} {
		m := foreign(t, c.outputs...)
		d, err := detect.New(m, detect.Default)
		if err != nil || d.Layout() != c.want {
			t.Errorf("%s: recognised as %q, %v", c.want, m.BoxLayout(), err)
			continue
		}
		var outs []tensor.Tensor
		for _, o := range c.outputs {
			outs = append(outs, tensor.New(tensor.F32, o.Type.Shape...))
		}
		c.fill(outs)
		all, err := d.Boxes(outs, 128, 192)
		if err != nil || len(all) != 1 {
			t.Errorf("%s: %v, %v", c.want, all, err)
			continue
		}
		got := fmt.Sprintf("%d %.5f %.3f", all[0].Index, all[0].Score, all[0].Corners)
		if want := fmt.Sprintf("1 %.5f %.3f", c.score, [4]float64{32, 48, 96, 112}); got != want {
			t.Errorf("%s: %s, want %s", c.want, got, want)
		}
	}
}

// TestBoxesBeyondFloat32: boxes with sides or corners that overflow float32 are cut at the border of the
// picture, like all large boxes. Of two boxes that overlap, one is removed.
func TestBoxesBeyondFloat32(t *testing.T) {
	const huge = math.MaxFloat32
	for name, c := range map[string]struct {
		outputs []models.OutputInfo
		fill    func(outs []tensor.Tensor)
	}{
		"logarithms": {[]models.OutputInfo{floats("output", cellsOf, 7)}, func(outs []tensor.Tensor) {
			copy(outs[0].F32()[7*20:], []float32{0, 0, 95, 800, 0.5, 0.25, 0.75})
			copy(outs[0].F32()[7*30:], []float32{0, 0, 88, 3e38, 0.5, 0.25, 0.5})
		}},
		"centres": {[]models.OutputInfo{floats("output0", 6, cellsOf)}, func(outs []tensor.Tensor) {
			for row, v := range []float32{-huge, 30, huge, huge, 0.25, 0.375} {
				outs[0].F32()[row*cellsOf+17] = v // the box ends at -huge/2, outside of the picture
			}
			for row, v := range []float32{huge / 4, 30, huge, huge, 0.25, 0.375} {
				outs[0].F32()[row*cellsOf+18] = v
			}
		}},
		"fractions": {[]models.OutputInfo{floats("scores", 10, 3), floats("boxes", 10, 4)},
			func(outs []tensor.Tensor) {
				copy(outs[0].F32()[3*4:], []float32{0.1, 0.2, 0.375})
				copy(outs[1].F32()[4*4:], []float32{-huge, -huge, huge, huge})
			}},
	} {
		d, err := detect.New(foreign(t, c.outputs...), detect.Default)
		if err != nil {
			t.Fatal(err)
		}
		var outs []tensor.Tensor
		for _, o := range c.outputs {
			outs = append(outs, tensor.New(tensor.F32, o.Type.Shape...))
		}
		c.fill(outs)
		all, err := d.Boxes(outs, 128, 192)
		if err != nil || len(all) != 1 || all[0].Corners != [4]float64{0, 0, 192, 128} || all[0].Score != 0.375 {
			t.Errorf("%s: %v, %v, want one box of the whole picture", name, all, err)
		}
	}
}

// TestOffsetsAreNotCorners: an output with offsets from anchors is refused, although it has the form of an
// SSD's corners.
func TestOffsetsAreNotCorners(t *testing.T) {
	d, err := detect.New(foreign(t, floats("scores", 10, 3), floats("boxes", 10, 4)), detect.Default)
	if err != nil {
		t.Fatal(err)
	}
	draw := rand.New(rand.NewPCG(1, 1))
	scores, boxes := tensor.New(tensor.F32, 10, 3), tensor.New(tensor.F32, 10, 4)
	for i := range boxes.F32() {
		boxes.F32()[i] = float32(draw.NormFloat64())
	}
	all, err := d.Boxes([]tensor.Tensor{scores, boxes}, 128, 192)
	if err == nil || !strings.Contains(err.Error(), "offsets from anchors; print the outputs with boxes none") {
		t.Errorf("%v, %v, want an error", all, err)
	}
}

// TestSuppressedLayout reads the outputs of a model that itself removes overlapping boxes.
func TestSuppressedLayout(t *testing.T) {
	m := foreign(t, floats("head", 10, 4))
	m.Tail = &models.Tail{Outputs: []models.OutputInfo{floats("boxes", -1, 4), floats("scores", -1),
		{Name: "labels", Type: graph.Type{DType: tensor.I64, Shape: []int{-1}}}}}
	d, err := detect.New(m, detect.Default)
	if err != nil {
		t.Fatal(err)
	}
	all, err := d.Boxes([]tensor.Tensor{tensor.Of([]float32{16, 24, 48, 56, 16, 24, 48, 56, 0, 0, 9, 9}, 3, 4),
		tensor.Of([]float32{0.5, 0.9, 0.1}, 3), tensor.Of([]int64{4, 4, 1}, 3)}, 128, 192)
	if err != nil || len(all) != 2 || all[0].Score != 0.9 || all[1].Index != 4 ||
		all[1].Corners != [4]float64{32, 48, 96, 112} {
		t.Errorf("%v, %v", all, err)
	}
}

// TestChosenLayouts: if the layout of the outputs is not recognised, the user names it. The outputs have one
// object, with the corners 16, 24, 48, 56 and class 1 of 2, as box 2 of 5.
func TestChosenLayouts(t *testing.T) {
	box := []float32{32, 40, 32, 32}
	for _, c := range []struct {
		name    string
		outputs []models.OutputInfo
		fill    func(outs []tensor.Tensor)
	}{
		{"yolov8", []models.OutputInfo{floats("logits", 6, 5)}, func(outs []tensor.Tensor) {
			for row, v := range append(box, 0.25, 0.75) {
				outs[0].F32()[row*5+2] = v
			}
		}},
		{"yolov5", []models.OutputInfo{floats("a", 8), floats("logits", 5, 7)}, func(outs []tensor.Tensor) {
			copy(outs[1].F32()[7*2:], append(box, 1, 0.25, 0.75))
		}},
		{"ssd", []models.OutputInfo{floats("logits", 5, 4), floats("a", 5, 3)}, func(outs []tensor.Tensor) {
			copy(outs[0].F32()[4*2:], []float32{16. / 96, 24. / 64, 48. / 96, 56. / 64})
			copy(outs[1].F32()[3*2:], []float32{0.1, 0.2, 0.75})
		}},
	} {
		m := foreign(t, c.outputs...)
		if m.BoxLayout() != models.NoLayout {
			t.Fatalf("%s: recognised as %s", c.name, m.BoxLayout())
		}
		m, err := models.WithBoxes(m, c.name)
		if err != nil {
			t.Fatal(err)
		}
		d, err := detect.New(m, detect.Default)
		if err != nil {
			t.Fatal(err)
		}
		var outs []tensor.Tensor
		for _, o := range c.outputs {
			outs = append(outs, tensor.New(tensor.F32, o.Type.Shape...))
		}
		c.fill(outs)
		all, err := d.Boxes(outs, 128, 192)
		if err != nil || len(all) != 1 || all[0].Index != 1 || all[0].Score != 0.75 {
			t.Errorf("%s: %+v, %v", c.name, all, err)
			continue
		}
		if got, want := fmt.Sprintf("%.3f", all[0].Corners), "[32.000 48.000 96.000 112.000]"; got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}

// TestChosenLayoutsThatDoNotFit: the outputs must have the shapes of the layout that the user names, and
// scores that are probabilities.
func TestChosenLayoutsThatDoNotFit(t *testing.T) {
	m := foreign(t, floats("y", cellsOf, 7))
	for name, want := range map[string]string{
		"yolo9":  `boxes "yolo9": want one of yolov8, yolov5, yolox, yolox-decoded, ssd, suppressed, none`,
		"ssd":    "boxes ssd: the outputs have other shapes: y f32[126,7], want f32 [boxes, 4] and [boxes, classes]",
		"yolov5": "", "yolox": "", "none": "",
	} {
		got := ""
		if _, err := models.WithBoxes(m, name); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	none, err := models.WithBoxes(m, "none")
	if err != nil || detect.Detects(none) || !detect.Detects(m) {
		t.Errorf("%v", err)
	}
	d, err := detect.New(m, detect.Default)
	if err != nil {
		t.Fatal(err)
	}
	logits := tensor.New(tensor.F32, cellsOf, 7)
	copy(logits.F32(), []float32{0, 0, 0, 0, 1, 0, 7})
	_, err = d.Boxes([]tensor.Tensor{logits}, 128, 192)
	if err == nil || !strings.Contains(err.Error(), "output y has the form of yolox, but a score is 7, which is not a "+
		"probability; print the outputs with boxes none") {
		t.Errorf("%v", err)
	}
}

// TestNoLayout: outputs of other shapes and names are not read as boxes.
func TestNoLayout(t *testing.T) {
	for _, outputs := range [][]models.OutputInfo{
		{floats("y", 4, cellsOf)}, {floats("y", 6, cellsOf+1)}, {floats("y", cellsOf, 5)}, {floats("y", cellsOf)},
		{floats("logits", 6, cellsOf)}, {floats("logits", 3*cellsOf, 7)},
		{floats("a", 10, 3), floats("b", 10, 4)}, {floats("boxes", 10, 3), floats("scores", 10, 4)},
		{floats("y", 6, cellsOf), floats("masks", 32, 8)},
	} {
		if m := foreign(t, outputs...); m.BoxLayout() != models.NoLayout {
			t.Errorf("%v: recognised as %s", outputs, m.BoxLayout())
		}
	}
}
