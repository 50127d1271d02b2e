package quantize

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// endsGraph rounds four numbers with the zero point 100, and then their sums with the
// bounds of a clip.
const endsGraph = `bnctl graph 1
graph "bytes"
func main(x rows f32[4]) {
  q = quantize(x, scale=1.0, zero=100)
  clip = add_int8(q, q, a_zero=100, b_zero=100, a_by=1.0, b_by=1.0, zero=100, min=100, max=200)
  y = dequantize(clip, scale=1.0, zero=100)
  return logits rows = y
}
`

// TestFindingsOfMaps: channel 0 is always 7. Channel 1 is 1000 in one of ten samples, and
// channel 2 in one of twenty, which is the maximum that is allowed. Channel 3 is -1000 in
// one of ten. The bounds of the sums are not the ends of the type, so that only channel 0
// is reported for the sums.
func TestFindingsOfMaps(t *testing.T) {
	g, err := graph.ParseGraph([]byte(endsGraph))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, array := filepath.Join(dir, "q.bnm"), filepath.Join(dir, "x.npy")
	m := &models.Model{Architecture: "bytes", Graph: g, State: map[string]tensor.Tensor{}}
	if _, err := serialize.WriteModel(file, m); err != nil {
		t.Fatal(err)
	}
	const samples = 40
	x := tensor.New(tensor.F32, samples, 4)
	for i := range samples {
		row := x.F32()[4*i:]
		row[0], row[1], row[2], row[3] = 7, float32(i), float32(-i), float32(i/2)
		if i%10 == 0 {
			row[1], row[3] = 1000, -1000
		}
		if i%20 == 0 {
			row[2] = 1000
		}
	}
	f, err := os.Create(array)
	if err == nil {
		err = data.WriteNPY(f, x)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	list, err := FileFindings(context.Background(), Options{Input: file, Source: array, Batch: 16})
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		layer, text string
		channels    []int
	}{
		{"q", "1 of 4 channels dead: one byte in all of 40 samples", []int{0}},
		{"q", "2 of 4 channels saturated: up to 10 % of their bytes are at an end of the range", []int{1, 3}},
		{"clip", "1 of 4 channels dead: one byte in all of 40 samples", []int{0}},
	}
	if len(list) != len(want) {
		t.Fatalf("findings are %+v", list)
	}
	for i, w := range want {
		if f := list[i]; f.Layer != w.layer || f.Problem != w.text || !slices.Equal(f.Channels, w.channels) {
			t.Errorf("finding %d is %+v, want %+v", i, f, w)
		}
	}
}

// TestFindingsNeedBytes: a model without layers that compute in bytes has no findings.
func TestFindingsNeedBytes(t *testing.T) {
	_, path := made(t, "lenet-bn")
	_, err := FileFindings(context.Background(), Options{Input: path, Source: "glyphs:7"})
	if err == nil || !strings.Contains(err.Error(), "no layer of the model computes bytes") {
		t.Errorf("the error is %v", err)
	}
}
