package protocol

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

func outputOf(values ...float32) *Tensor {
	v := tensor.Of(values, 1, len(values))
	return &Tensor{Name: "y", Datatype: "FP32", Shape: v.Shape, Values: v}
}

func TestWrite(t *testing.T) {
	a := &Answer{Model: "m", Version: "2", ID: "7", Parameters: map[string]string{"sha256": "ab"},
		Outputs: []*Tensor{outputOf(0.1, -0.5), outputOf(1, 2)}}
	a.Outputs[1].Binary = true
	head, tail, err := a.Write()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model_name":"m","model_version":"2","id":"7","parameters":{"sha256":"ab"},"outputs":[` +
		`{"name":"y","datatype":"FP32","shape":[1,2],"data":[0.1,-0.5]},` +
		`{"name":"y","datatype":"FP32","shape":[1,2],"parameters":{"binary_data_size":8}}]}`
	if string(head) != want || len(tail) != 1 || string(tail[0]) != "\x00\x00\x80\x3f\x00\x00\x00\x40" {
		t.Errorf("%s\n%q", head, tail)
	}
}

// TestNotFinite checks that numbers that JSON cannot represent give an error with advice, and that they can
// be returned as bytes.
func TestNotFinite(t *testing.T) {
	for _, v := range []float32{float32(math.NaN()), float32(math.Inf(-1))} {
		a := &Answer{Outputs: []*Tensor{outputOf(1, v)}}
		_, _, err := a.Write()
		var r *Refusal
		if !errors.As(err, &r) || !strings.Contains(err.Error(), "binary_data") {
			t.Errorf("%v: %v", v, err)
		}
		a.Outputs[0].Binary = true
		if _, tail, err := a.Write(); err != nil || len(tail[0]) != 8 {
			t.Errorf("%v as bytes: %v", v, err)
		}
	}
}

func TestBest(t *testing.T) {
	got := Best([]float32{0.25, 2, 2, -1}, 3, func(k int) string { return []string{"", "b", "c:d", ""}[k] })
	if want := "2:1:b|2:2:c:d|0.25:0"; strings.Join(got, "|") != want {
		t.Errorf("%q, want %s", got, want)
	}
	raw := (&Tensor{Datatype: Bytes, Strings: []string{"ab", ""}}).Raw()
	if want := "\x02\x00\x00\x00ab\x00\x00\x00\x00"; string(raw) != want {
		t.Errorf("%q", raw)
	}
}
