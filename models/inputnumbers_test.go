package models_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// doubling returns a model that doubles its input, in a node with the name of the image
// operation in other models.
func doubling(t *testing.T, input string) *models.Model {
	t.Helper()
	g, err := graph.ParseGraph(fmt.Appendf(nil, "bnctl graph 1\ngraph \"g\"\nfunc main(x rows %s) {\n"+
		"  image = affine(x, by=2)\n  return y rows = image\n}\n", input))
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New(g)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Images become the numbers of a model's input, with channels on either axis.
func TestNumbersOfImages(t *testing.T) {
	caffe := models.Image{Scale: 1, Mean: []float64{104, 117, 123.5}, BGR: true}
	for input, at := range map[string]func(c, h, w int) int{
		"f32[3,2,4]": func(c, h, w int) int { return (c*2+h)*4 + w },
		"f32[2,4,3]": func(c, h, w int) int { return (h*4+w)*3 + c },
	} {
		m, err := models.WithImage(doubling(t, input), caffe)
		if err != nil {
			t.Fatal(err)
		}
		x := tensor.New(tensor.U8, 1, 2, 4, 3)
		for i := range x.U8() {
			x.U8()[i] = uint8(10 * i)
		}
		out, err := ref.Eval64(m.Graph.Main, nil, []tensor.Tensor{x}, []int{1})
		if err != nil {
			t.Fatal(err)
		}
		for c := range 3 {
			blueFirst := float64(x.U8()[(1*4+2)*3+2-c])
			want := 2 * (blueFirst - caffe.Mean[c])
			if got := out[0].F64()[at(c, 1, 2)]; math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: channel %d of row 1, column 2 is %g, want %g", input, c, got, want)
			}
		}
	}
}
