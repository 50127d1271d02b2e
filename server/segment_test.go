package server

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/tensor"
)

// newSegmenter returns a model of three classes of pixels.
func newSegmenter(t *testing.T) *models.Model {
	t.Helper()
	m, err := models.Build("unet-bn", models.Options{Classes: 3})
	if err == nil {
		err = models.Init(m, 3)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.Labels, m.Preprocess.Known = []string{"sky", "<b>", "tree"}, true
	return m
}

// TestSegment compares the mask of a picture with the mask from package predict, pixel by pixel. It also
// compares the shares of the classes with the mask.
func TestSegment(t *testing.T) {
	m := newSegmenter(t)
	s, file := start(t, on("ref", write(t, m, "m.bnm"))), photo(t, 64, 64)
	r := ask(t, s, "POST", "/v2/models/m/segment", file)
	var got segmentation
	if err := json.Unmarshal(r.body, &got); err != nil || r.status != 200 {
		t.Fatalf("%d %.200s: %v", r.status, r.body, err)
	}
	decoded, err := png.Decode(bytes.NewReader(got.Mask))
	if err != nil {
		t.Fatal(err)
	}
	mask := decoded.(*image.Paletted)
	want := predictedMask(t, m, file)
	if !bytes.Equal(mask.Pix, want) {
		t.Error("the mask is not that of predict")
	}
	total, counts := 0.0, map[byte]int{}
	for _, k := range want {
		counts[k]++
	}
	for i, k := range got.Classes {
		total += k.Fraction
		n := float64(counts[byte(k.Index)]) / float64(len(want))
		if k.Fraction != n || k.Label != m.Labels[k.Index] {
			t.Errorf("class %+v, want a share of %v", k, n)
		}
		if i > 0 && k.Fraction > got.Classes[i-1].Fraction {
			t.Error("the most frequent class is not the first")
		}
	}
	if math.Abs(total-1) > 1e-12 || len(got.Classes) != len(counts) {
		t.Errorf("classes %+v", got.Classes)
	}
	picture, err := png.Decode(bytes.NewReader(got.Picture))
	if err != nil || picture.Bounds() != mask.Bounds() {
		t.Fatalf("the picture: %v", err)
	}
	was, err := png.Decode(bytes.NewReader(file))
	if err != nil || color.NRGBAModel.Convert(was.At(5, 7)) != color.NRGBAModel.Convert(picture.At(5, 7)) {
		t.Errorf("a pixel is %v, want %v", picture.At(5, 7), was.At(5, 7))
	}
}

// predictedMask returns the mask that package predict computes for a picture file.
func predictedMask(t *testing.T, m *models.Model, file []byte) (mask []byte) {
	t.Helper()
	p, src := predictor(t, m, "ref"), inputOf(t, file)
	defer src.Close()
	_, err := p.Scores(t.Context(), src, predict.Whole{Fit: data.CropFit}, predict.Reading{},
		func(_ int, scores tensor.Tensor) (err error) {
			mask, err = predict.PixelClasses("", scores)
			return err
		})
	if err != nil {
		t.Fatal(err)
	}
	return mask
}

// TestSegmentRefuses checks that, if a model cannot answer a request, the error names the kind of request
// that it can answer.
func TestSegmentRefuses(t *testing.T) {
	masks := start(t, on("ref", write(t, newSegmenter(t), "m.bnm")))
	classes := start(t, on("ref", write(t, newModel(t, 1), "m.bnm")))
	file := photo(t, 30, 30)
	for _, c := range []struct {
		s          *Server
		path, want string
		body       []byte
	}{
		{masks, "classify", "ask with segment", file},
		{classes, "segment", "ask with classify", file},
		{masks, "segment", "picture", []byte("no picture")},
	} {
		r := ask(t, c.s, "POST", "/v2/models/m/"+c.path, c.body)
		if r.status != 400 || !strings.Contains(string(r.body), c.want) {
			t.Errorf("%s: %d %s, want %q", c.path, r.status, r.body, c.want)
		}
	}
	if n := masks.budget.requestBytes(); n != 0 {
		t.Errorf("%d bytes are taken", n)
	}
}
