package chart

import (
	"math"
	"strings"
	"testing"
)

// edges returns values at the limits of an axis's arithmetic.
func edges() []float64 {
	values := []float64{0, 5e-324, 1e-310, 1e-300, 1e-12, 0.1, 1, 1.55144471393205, 3, 1e9, 1 << 53, 1e17, 1e300}
	for _, v := range values[:len(values):len(values)] {
		values = append(values, math.Nextafter(v, math.Inf(1)), math.Nextafter(v, math.Inf(-1)), -v)
	}
	return values
}

// TestChartsEnd: a chart of any two values is drawn, with few ticks and without a position that is NaN. A
// range of an ulp made the loop over ticks endless, because k+1 is k from 2^53 on.
func TestChartsEnd(t *testing.T) {
	for _, a := range edges() {
		for _, b := range edges() {
			for _, c := range []Chart{{}, {Integer: true}, {Percent: true}, {LogX: true, LogY: true},
				{LogX: true, Integer: true}} {
				c.Curves = []Curve{{X: []float64{a, b}, Y: []float64{b, a}}, {X: []float64{1, 2}, Y: []float64{a, b}}}
				drawing, _ := c.Draw()
				checkDrawing(t, drawing, a, b)
			}
			for _, bars := range []bool{false, true} {
				r := Rows{Bars: bars, Of: []Row{{Values: []float64{a, b}, Mean: a}, {Mean: b}}}
				drawing, _ := r.Draw()
				checkDrawing(t, drawing, a, b)
			}
		}
	}
}

func checkDrawing(t *testing.T, drawing string, a, b float64) {
	t.Helper()
	if strings.Contains(drawing, "NaN") || strings.Contains(drawing, "Inf") {
		t.Errorf("%v, %v: a position is no number:\n%.300s", a, b, drawing)
	}
	if n := strings.Count(drawing, "<text"); n > 3*mostTicks {
		t.Errorf("%v, %v: %d labels", a, b, n)
	}
}

// TestTicks: all ticks are round values within the range.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		integer   bool
		want      []float64
	}{
		{0, 1, false, []float64{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}},
		{-3, 7, false, []float64{-2, 0, 2, 4, 6}},
		{1, 3, true, []float64{1, 2, 3}},
		{1.5514447139320509, 1.5514447139320511, false, nil},
		{1e300, 2e300, false, []float64{1e300, 1.2e300, 1.4e300, 1.6e300, 1.8e300, 2e300}},
	} {
		got := scale{low: c.low, high: c.high}.ticks(5, c.integer)
		if len(got) != len(c.want) {
			t.Errorf("%v to %v: %v, want %v", c.low, c.high, got, c.want)
			continue
		}
		for i, v := range got {
			if math.Abs(v-c.want[i]) > 1e-12*math.Abs(c.want[i]) {
				t.Errorf("%v to %v: %v, want %v", c.low, c.high, got, c.want)
			}
		}
	}
}
