package suppress

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

func read(t testing.TB, name string, into any) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The indices and their order equal ONNX Runtime's (testdata/golden.js).
func TestONNXRuntime(t *testing.T) {
	var cases []struct {
		Batch, Classes, Count int
		Center                bool
		Most                  int64
		Overlap               float32
		Score                 *float32
		Boxes, Scores         []float32
		Selected              []int64
	}
	read(t, "golden.json", &cases)
	selected := 0
	for i, c := range cases {
		got := ONNX(ONNXInput{Boxes: c.Boxes, Scores: c.Scores, Batch: c.Batch, Classes: c.Classes, Count: c.Count,
			MostPerClass: c.Most, Overlap: c.Overlap, Score: c.Score, Center: c.Center})
		var flat []int64
		for _, row := range got {
			flat = append(flat, row[:]...)
		}
		if !slices.Equal(flat, c.Selected) {
			t.Errorf("case %d: %v, want %v", i, flat, c.Selected)
		}
		selected += len(got)
	}
	if len(cases) != 40 || selected < 200 {
		t.Errorf("%d cases with %d boxes", len(cases), selected)
	}
}

// The indices equal torchvision's batched_nms by its definition (testdata/batched.py).
func TestBatchedNMS(t *testing.T) {
	var cases []struct {
		Boxes    []Corners
		Scores   []float32
		Classes  []int
		Overlap  float32
		Selected []int
	}
	read(t, "batched.json", &cases)
	for i, c := range cases {
		o := Options{Overlap: c.Overlap, Score: -1}
		if got := Classwise(c.Boxes, c.Scores, c.Classes, o); !slices.Equal(got, c.Selected) {
			t.Errorf("case %d: %v, want %v", i, got, c.Selected)
		}
	}
	if len(cases) != 30 {
		t.Errorf("%d cases", len(cases))
	}
}

func TestLimits(t *testing.T) {
	far := func(i int) Corners { x := float32(20 * i); return Corners{x, 0, x + 10, 10} }
	boxes := []Corners{far(0), far(1), far(2), far(3), far(4)}
	scores := []float32{0.5, 0.5, float32(math.NaN()), 0.9, 0.1}
	classes := []int{1, 0, 0, 1, 0}
	for _, c := range []struct {
		o    Options
		want []int
	}{
		{Options{Overlap: 0.5}, []int{3, 0, 1, 4}},
		{Options{Overlap: 0.5, Score: 0.1}, []int{3, 0, 1}},
		{Options{Overlap: 0.5, Before: 1}, []int{3, 1}},
		{Options{Overlap: 0.5, Most: 2}, []int{3, 0}},
		{Options{Overlap: 0.5, Score: 1}, nil},
	} {
		if got := Classwise(boxes, scores, classes, c.o); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.o, got, c.want)
		}
	}
	// Equal boxes without an area, or with corners that are no numbers, remain.
	point, nan := Corners{5, 5, 5, 5}, Corners{float32(math.NaN()), 0, 1, 1}
	got := Classwise([]Corners{point, point, nan, nan}, []float32{1, 1, 1, 1}, make([]int, 4), Options{})
	if !slices.Equal(got, []int{0, 1, 2, 3}) {
		t.Errorf("%v", got)
	}
}
