package fit

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// ramp returns a tensor of the numbers add, by + add, 2*by + add and so on.
func ramp(d tensor.DType, by, add float64, shape ...int) tensor.Tensor {
	t := tensor.New(d, shape...)
	for i := range t.Count() {
		v := float64(i)*by + add
		switch d {
		case tensor.U8:
			t.Bytes[i] = byte(v)
		case tensor.I32:
			t.I32()[i] = int32(v)
		case tensor.I64:
			t.I64()[i] = int64(v)
		case tensor.F64:
			t.F64()[i] = v
		default:
			t.F32()[i] = float32(v)
		}
	}
	return t
}

// TestArrays converts arrays with one possible meaning, with a note, and refuses others.
// Arrays are never normalised twice, and raw pixels are never the input of a model that
// expects normalised numbers.
func TestArrays(t *testing.T) {
	colour, err := models.Build("resnet20", models.Options{}) // ImageNet's mean and deviation, 32x32x3
	if err != nil {
		t.Fatal(err)
	}
	grey, err := models.Build("mlp-bn", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	none, err := models.WithArrays(colour)
	if err != nil {
		t.Fatal(err)
	}
	const n = 2 * 3 * 32 * 32
	inRange := ramp(tensor.F32, 4.0/n, -2, 2, 3, 32, 32)
	nan := ramp(tensor.F32, 0, 0, 2, 3, 32, 32)
	nan.F32()[5] = float32(math.NaN())
	for _, c := range []struct {
		what        string
		m           *models.Model
		x           tensor.Tensor
		want        string // type and shape of the result
		note, error string
	}{
		{"pictures", colour, ramp(tensor.U8, 1, 0, 2, 32, 32, 3), "u8[2,32,32,3]", "", ""},
		{"pictures of another size", colour, ramp(tensor.U8, 1, 0, 2, 40, 50, 3), "u8[2,40,50,3]", "", ""},
		{"channels first", colour, ramp(tensor.U8, 1, 0, 2, 3, 32, 32), "u8[2,32,32,3]", "turned to [N,H,W,C]", ""},
		{"grey without channels", grey, ramp(tensor.U8, 1, 0, 2, 28, 28), "u8[2,28,28,1]", "grey pictures", ""},
		{"no channels", colour, ramp(tensor.U8, 1, 0, 2, 32, 32), "", "", "no pictures"},
		{"four channels", colour, ramp(tensor.U8, 1, 0, 2, 32, 32, 4), "", "", "1 or 3 channels"},
		{"int64 pixels", colour, ramp(tensor.I64, 255.0/n, 0, 2, 32, 32, 3), "u8[2,32,32,3]", "taken as uint8", ""},
		{"int32 pixels, channels first", colour, ramp(tensor.I32, 255.0/n, 0, 2, 3, 32, 32), "u8[2,32,32,3]", "uint8", ""},
		{"int64 beyond", colour, ramp(tensor.I64, 1, 0, 2, 32, 32, 3), "", "", "256 is among the values"},
		{"negative int32", colour, ramp(tensor.I32, 0, -1, 2, 32, 32, 3), "", "", "-1 is among the values"},
		{"float64 pixels", colour, ramp(tensor.F64, 255.0/n, 0, 2, 3, 32, 32), "", "", "values from 0 to 255"},
		{"float pixels, channels last", colour, ramp(tensor.F32, 255.0/n, 0, 2, 32, 32, 3), "", "", "preprocess none"},
		{"one sample", none, ramp(tensor.F32, 1, 0, 3, 32, 32), "f32[1,3,32,32]", "taken as one sample", ""},
		{"normalised", colour, inRange, "f32[2,3,32,32]", "goes past the model's preprocessing", ""},
		{"normalised float64", colour, ramp(tensor.F64, 4.0/n, -2, 2, 3, 32, 32), "f32[2,3,32,32]", "taken as f32", ""},
		{"normalised, channels last", colour, ramp(tensor.F32, 4.0/n, -2, 2, 32, 32, 3), "f32[2,32,32,3]", "[N,H,W,C]", ""},
		{"normalised, grey without channels", grey, ramp(tensor.F32, 1.0/n, 0, 2, 28, 28), "f32[2,1,28,28]", "grey", ""},
		{"NaN", colour, nan, "", "", "NaN"},
		{"pixels as they are", none, ramp(tensor.F32, 255.0/n, 0, 2, 3, 32, 32), "f32[2,3,32,32]", "", ""},
		{"float64 for f32", none, ramp(tensor.F64, 1, 0, 2, 3, 32, 32), "f32[2,3,32,32]", "taken as f32", ""},
		{"float64 beyond f32", none, ramp(tensor.F64, 1e300, 0, 2, 3, 32, 32), "", "", "beyond float32"},
		{"whole numbers", none, ramp(tensor.I64, 1, 0, 2, 3, 32, 32), "f32[2,3,32,32]", "taken as f32", ""},
		{"too long", none, ramp(tensor.I64, 1<<30, 1, 2, 3, 32, 32), "", "", "whole numbers that float32 holds"},
		{"bytes of nothing known", none, ramp(tensor.U8, 1, 0, 2, 3, 32, 32), "", "", "does not say"},
	} {
		var notes bytes.Buffer
		note := func(format string, args ...any) { fmt.Fprintf(&notes, format, args...) }
		got, err := Arrays(c.m, note)("x.npy", c.x)
		switch {
		case err != nil:
			if c.error == "" || !strings.Contains(err.Error(), c.error) {
				t.Errorf("%s: error %v, want %q", c.what, err, c.error)
			}
		case c.error != "" || tensor.Describe(got.DType, got.Shape) != c.want:
			t.Errorf("%s: %v, want %s, error %q", c.what, got, c.want, c.error)
		case !strings.Contains(notes.String(), c.note) || c.note == "" && notes.Len() > 0:
			t.Errorf("%s: notes %q, want %q", c.what, notes.String(), c.note)
		}
	}
}

// Bytes [n,c,h,w] become [n,h,w,c] with the same elements.
func TestArraysAreTurned(t *testing.T) {
	x := ramp(tensor.U8, 1, 0, 2, 3, 4, 5)
	got := channelsToEnd(x)
	for i := range 2 * 3 * 4 * 5 {
		n, c, h, w := i/60, i/20%3, i/5%4, i%5
		if v := got.Bytes[((n*4+h)*5+w)*3+c]; v != x.Bytes[i] {
			t.Fatalf("[%d,%d,%d,%d] is %d, want %d", n, h, w, c, v, x.Bytes[i])
		}
	}
}
