package suppress

import (
	"cmp"
	"encoding/json"
	"math"
	"math/rand/v2"
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

// TestONNXRuntime checks that the indices and their order equal those of ONNX Runtime
// (testdata/golden.js).
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

// TestBatchedNMS checks the indices against those of torchvision's batched_nms, computed by
// testdata/batched.py.
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
	// Equal boxes without an area, or with corners of NaN, remain.
	point, nan := Corners{5, 5, 5, 5}, Corners{float32(math.NaN()), 0, 1, 1}
	got := Classwise([]Corners{point, point, nan, nan}, []float32{1, 1, 1, 1}, make([]int, 4), Options{})
	if !slices.Equal(got, []int{0, 1, 2, 3}) {
		t.Errorf("%v", got)
	}
}

// overlap is the definition: the area in common divided by the area of the union; 0 if a box has no area.
func overlap(a, b Corners) float32 {
	left, right := max(a[0], b[0]), min(a[2], b[2])
	top, bottom := max(a[1], b[1]), min(a[3], b[3])
	if !(right > left) || !(bottom > top) {
		return 0
	}
	common := float32((right - left) * (bottom - top))
	areaA, areaB := float32((a[2]-a[0])*(a[3]-a[1])), float32((b[2]-b[0])*(b[3]-b[1]))
	union := float32(areaA+areaB) - common
	if !(areaA > 0) || !(areaB > 0) || !(union > 0) {
		return 0
	}
	return common / union
}

// TestChoose checks that choose gives the same result as comparing each box with all chosen ones, for any
// corners and limits.
func TestChoose(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 1))
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	odd := []float32{0, float32(math.Copysign(0, -1)), inf, -inf, nan, 1e30, -1e30, 1e-40}
	for draw := range 3000 {
		count, side, class := r.IntN(30), 20, 0
		if draw%30 == 29 { // enough boxes for many strips; in some draws the classes are moved apart
			count, side, class = r.IntN(1200), 1+r.IntN(400), r.IntN(2)*300
		}
		boxes, order := make([]Corners, count), []int(nil)
		for i := range boxes {
			for k := range 2 {
				boxes[i][k] = float32(r.IntN(side))/2 + float32(class*(i%5))
				boxes[i][k+2] = boxes[i][k] + float32(r.IntN(14)-1)
				if r.IntN(40) == 0 {
					boxes[i][k+2] = boxes[i][k] + float32(r.IntN(side))
				}
			}
			if draw%3 == 0 && r.IntN(4) == 0 {
				boxes[i][r.IntN(4)] = odd[r.IntN(len(odd))]
			}
			order = append(order, i)
		}
		limit := []float32{-0.1, 0, 0.25, 0.5, 1, nan, r.Float32()}[r.IntN(7)]
		most := r.IntN(len(boxes) + 2)
		var want []int
		for _, c := range order {
			removes := func(a int) bool { return overlap(boxes[a], boxes[c]) > limit }
			if len(want) < most && !slices.ContainsFunc(want, removes) {
				want = append(want, c)
			}
		}
		if got := choose(order, most, boxes, limit); !slices.Equal(got, want) {
			t.Fatalf("draw %d, limit %g, at most %d of %v: %v, want %v", draw, limit, most, boxes, got, want)
		}
	}
}

// BenchmarkApart chooses among boxes that are moved apart by their class, as in torchvision's batched_nms.
func BenchmarkApart(b *testing.B) {
	r := rand.New(rand.NewPCG(62, 1))
	in := ONNXInput{Batch: 1, Classes: 1, Count: 3549, MostPerClass: 1 << 40, Overlap: 0.45}
	for range in.Count {
		at := float32(417 * r.IntN(80))
		x, y := at+416*r.Float32(), at+416*r.Float32()
		in.Boxes = append(in.Boxes, y, x, y+60*r.Float32(), x+60*r.Float32())
		in.Scores = append(in.Scores, r.Float32())
	}
	for b.Loop() {
		ONNX(in)
	}
}

func BenchmarkONNX(b *testing.B) {
	r := rand.New(rand.NewPCG(61, 1))
	in := ONNXInput{Batch: 1, Classes: 80, Count: 3549, MostPerClass: 1000, Overlap: 0.45, Score: new(float32)}
	for range in.Count {
		x, y := 416*r.Float32(), 416*r.Float32()
		in.Boxes = append(in.Boxes, y, x, y+60*r.Float32(), x+60*r.Float32())
	}
	for range in.Classes * in.Count {
		in.Scores = append(in.Scores, max(0, r.Float32()-0.9))
	}
	for b.Loop() {
		ONNX(in)
	}
}

// TestSortByScore compares orders with the definition, for equal scores, zeros of both signs, infinities and NaN.
func TestSortByScore(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 2))
	odd := []float32{0, float32(math.Copysign(0, -1)), 1, 1, -1, float32(math.Inf(1)), float32(math.Inf(-1)),
		float32(math.NaN()), math.MaxFloat32, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32}
	for range 300 {
		scores := make([]float32, r.IntN(100))
		var indices []int
		for i := range scores {
			if scores[i] = odd[r.IntN(len(odd))]; r.IntN(2) == 0 {
				scores[i] = float32(r.NormFloat64())
			}
			if r.IntN(4) > 0 {
				indices = append(indices, i)
			}
		}
		want := slices.Clone(indices)
		slices.SortFunc(want, func(a, b int) int {
			return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
		})
		r.Shuffle(len(indices), func(i, k int) { indices[i], indices[k] = indices[k], indices[i] })
		if sortByScore(indices, scores); !slices.Equal(indices, want) {
			t.Fatalf("%v: %v, want %v", scores, indices, want)
		}
	}
}
