package models_test

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
)

const arrays = `bnctl graph 1
graph "small"

state w f32[2,12] weight zeros

func main(x rows f32[SHAPE]) {
  flat = reshape(x, shape=[12])
  fc = dense(flat, @w)
  return logits rows = fc
}
`

func TestInput(t *testing.T) {
	caffe := models.Image{Scale: 1, Mean: []float64{104, 117, 123}, BGR: true}
	for _, c := range []struct{ shape, images, first string }{
		{"3,2,2", "rows u8[2,2,3]", "image = image(x, "},
		{"2,2,3", "rows u8[2,2,3]", "image.hwc = transpose(image, perm=[1,2,0])"},
		{"1,3,4", "rows u8[3,4,1]", "image = image(x, "},
		{"3,4", "rows u8[3,4,1]", "image.hw = reshape(image, shape=[3,4])"},
	} {
		g, err := graph.ParseGraph([]byte(strings.Replace(arrays, "SHAPE", c.shape, 1)))
		if err != nil {
			t.Fatal(err)
		}
		m, err := models.New(g)
		if err != nil {
			t.Fatal(err)
		}
		i := caffe
		if strings.HasSuffix(c.images, ",1]") {
			i = models.Image{Scale: 1}
		}
		with, err := models.WithImage(m, i)
		if err != nil {
			t.Fatal(err)
		}
		if got := with.Input().String(); got != c.images {
			t.Errorf("f32[%s]: with images the input is %s, want %s", c.shape, got, c.images)
		}
		if text := string(with.Graph.Text()); !strings.Contains(text, c.first) {
			t.Errorf("f32[%s]: no %s in\n%s", c.shape, c.first, text)
		}
		again, err := models.WithImage(with, i)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(again.Graph.Text()), string(with.Graph.Text()); got != want {
			t.Errorf("f32[%s]: the same image operation once more changes the graph to\n%s", c.shape, got)
		}
		if same, err := models.WithArrays(m); err != nil || same != m {
			t.Errorf("f32[%s]: WithArrays changed a model of arrays: %v", c.shape, err)
		}
	}
}

func TestInputOfZoo(t *testing.T) {
	m, err := models.Build("resnet20", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	arrays, err := models.WithArrays(m)
	if err != nil {
		t.Fatal(err)
	}
	if got := arrays.Input().String(); got != "rows f32[3,32,32]" {
		t.Errorf("without its image operation resnet20 takes %s", got)
	}
	back, err := models.WithImage(arrays, models.Image{Scale: 1. / 255, Mean: models.ImageNetMean,
		Std: models.ImageNetStd})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(back.Graph.Text()), string(m.Graph.Text()); got != want {
		t.Errorf("with it again the graph is\n%.600s\nwant\n%.600s", got, want)
	}
	if _, err := models.WithImage(&models.Model{Architecture: "a", Graph: vector(t)},
		models.Image{}); err == nil {
		t.Error("a model of vectors takes images")
	}
}

func vector(t *testing.T) *graph.Graph {
	t.Helper()
	text := strings.Replace(strings.Replace(arrays, "SHAPE", "12", 1), "flat = reshape(x, shape=[12])",
		"flat = relu(x)", 1)
	g, err := graph.ParseGraph([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return g
}
