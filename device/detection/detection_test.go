package detection

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/device/suppress"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// plain is Detect in the words of its definition: it computes all scores, and compares each candidate
// with each box.
func plain(d *Detector, p Prediction, l Limits) (all []Box) {
	fields, slots := d.Form.BoxRows(), len(p.Values)/p.Rows
	type ranked struct {
		Box
		order int
	}
	groups := map[int][]ranked{}
	for i := range slots {
		corners, ok := d.corners(&p, i)
		for k := range p.Rows - fields {
			score := plainScore(d.Form, &p, i, k)
			if !ok || !(score > l.Score) {
				continue
			}
			g := k
			for n, s := range d.Starts {
				if i >= s {
					g = n
				}
			}
			groups[g] = append(groups[g], ranked{Box{corners, k, score}, i*1000 + k})
		}
	}
	var competing []ranked
	better := func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.order, b.order))
	}
	for _, g := range groups {
		slices.SortFunc(g, better)
		if d.Before > 0 {
			g = g[:min(len(g), d.Before)]
		}
		competing = append(competing, g...)
	}
	slices.SortFunc(competing, better)
	for _, b := range competing {
		if !slices.ContainsFunc(all, func(a Box) bool {
			return a.Class == b.Class && covers(a.Corners, b.Corners, l.Overlap)
		}) {
			all = append(all, b.Box)
		}
	}
	return all[:min(len(all), d.Most)]
}

func plainScore(form graph.BoxForm, p *Prediction, i, k int) float32 {
	fields := form.BoxRows()
	logit := float64(p.value(fields+k, i))
	switch form {
	case graph.YOLOXForm:
		for c := range p.Rows - fields {
			if v := float64(p.value(fields+c, i)); v > logit || v == logit && c < k {
				return float32(math.NaN())
			}
		}
		return float32(probability(float64(p.value(4, i))) * probability(logit))
	case graph.FCOSForm:
		return float32(math.Sqrt(float64(probability(float64(p.value(4, i))) * probability(logit))))
	case graph.SSDForm:
		top, total := math.Inf(-1), 0.0
		for r := 4; r < p.Rows; r++ {
			top = max(top, float64(p.value(r, i)))
		}
		for r := 4; r < p.Rows; r++ {
			total += tensor.Exp(float64(p.value(r, i)) - top)
		}
		return float32(tensor.Exp(logit-top) / total)
	case graph.CornersForm:
		return float32(logit)
	}
	return float32(probability(logit))
}

func covers(a, b suppress.Corners, limit float32) bool {
	if limit < 0 {
		return true
	}
	area := func(c suppress.Corners) float32 {
		if !(c[2] > c[0] && c[3] > c[1]) {
			return 0
		}
		return float32((c[2] - c[0]) * (c[3] - c[1]))
	}
	w, h := min(a[2], b[2])-max(a[0], b[0]), min(a[3], b[3])-max(a[1], b[1])
	if !(w > 0) || !(h > 0) || !(area(a) > 0) || !(area(b) > 0) {
		return false
	}
	common := float32(w * h)
	union := float32(area(a)+area(b)) - common
	return union > 0 && common/union > limit
}

// TestDetect compares Detect with plain, with predictions in both orders.
func TestDetect(t *testing.T) {
	r, boxes := rand.New(rand.NewPCG(1, 2)), map[graph.BoxForm]int{}
	for n := range 600 {
		form := []graph.BoxForm{graph.YOLOXForm, graph.FCOSForm, graph.RetinaNetForm, graph.SSDForm,
			graph.CornersForm}[n%5]
		slots, rows := 1+r.IntN(90), form.BoxRows()+1+r.IntN(4)
		d := &Detector{Form: form, Height: 40, Width: 48, Before: r.IntN(3) * r.IntN(9), Most: 1 + r.IntN(60)}
		if r.IntN(2) == 0 {
			d.Starts = []int{0}
			if slots > 3 {
				d.Starts = append(d.Starts, slots/3, slots/2)
			}
		}
		values := make([]float32, rows*slots)
		for i := range values {
			v := r.NormFloat64() * []float64{1, 1, 8, 1e30}[r.IntN(4)*r.IntN(2)]
			if r.IntN(3) == 0 {
				v = math.Round(v)
			}
			values[i] = float32(v)
		}
		for range slots {
			x, y := float32(8*r.IntN(5)), float32(8*r.IntN(5))
			d.Anchors = append(d.Anchors, x, y, x+8, y+8)
		}
		p := Ordered(values, slots)
		turned := Prediction{make([]float32, len(values)), rows, 1, rows}
		for i := range slots {
			for k := range rows {
				turned.Values[i*rows+k] = p.value(k, i)
			}
		}
		l := Limits{[]float32{-0.4, 0, 0.01, 0.25, 0.5, 0.9, 1}[r.IntN(7)],
			[]float32{-1, 0, 0.3, 0.6, 1}[r.IntN(5)]}
		want, got := plain(d, p, l), d.Detect(p, l)
		if len(want)+len(got) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("%d, %s, %+v, %d slots: got %v, want %v", n, form, l, slots, got, want)
		}
		y := make([]float32, boxFields*(1+d.Most))
		d.Run(y, turned, []float32{l.Score, l.Overlap})
		if again, ok := Boxes(y); !ok || fmt.Sprint(again) != fmt.Sprint(got) {
			t.Fatalf("%d, %s: %v from the result, want %v", n, form, again, got)
		}
		boxes[form] += len(got)
		values[r.IntN(len(values))] = float32([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}[r.IntN(3)])
		d.Run(y, p, []float32{l.Score, l.Overlap})
		if _, ok := Boxes(y); ok || slices.ContainsFunc(y[1:], func(v float32) bool { return v != 0 }) {
			t.Fatalf("%d, %s: %v for a prediction that is not finite", n, form, y)
		}
	}
	for form, n := range boxes {
		if n < 300 {
			t.Errorf("%s: only %d boxes", form, n)
		}
	}
}

// TestTorchvision compares Detect for graph.CornersForm with torchvision's batched_nms
// (testdata/golden.py).
func TestTorchvision(t *testing.T) {
	var cases []struct {
		Boxes          []suppress.Corners
		Scores         []float32
		Classes        []int
		Score, Overlap float32
		Most           int
		Kept           []int
	}
	text, err := os.ReadFile("testdata/golden.json")
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	for n, c := range cases {
		slots, classes := len(c.Boxes), 3
		values := make([]float32, (4+classes)*slots)
		var want []Box
		for i, b := range c.Boxes {
			for k, v := range b {
				values[k*slots+i] = v
			}
			values[(4+c.Classes[i])*slots+i] = c.Scores[i]
		}
		for _, i := range c.Kept {
			want = append(want, Box{c.Boxes[i], c.Classes[i], c.Scores[i]})
		}
		d := &Detector{Form: graph.CornersForm, Most: c.Most}
		if got := d.Detect(Ordered(values, slots), Limits{c.Score, c.Overlap}); !reflect.DeepEqual(got, want) {
			t.Errorf("case %d: got %v, want %v", n, got, want)
		}
	}
	if len(cases) < 20 {
		t.Errorf("%d cases", len(cases))
	}
}
