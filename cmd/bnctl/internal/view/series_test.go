package view

import (
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/internal/waiting"
)

// A series of any length needs little memory, and keeps the mean of its values.
func TestSeries(t *testing.T) {
	var s series
	for i := range 1 << 20 {
		s.add(float64(i))
	}
	if len(s.values) >= bins || len(s.values) < bins/2 {
		t.Errorf("%d values", len(s.values))
	}
	sum := 0.0
	for _, v := range s.values {
		sum += v
	}
	if mean, want := sum/float64(len(s.values)), float64(1<<20-1)/2; math.Abs(mean-want) > 1 {
		t.Errorf("mean %g, want %g", mean, want)
	}
}

// The lowest value is drawn as the lowest block, and the highest as a full one. A value that is not finite is
// drawn as a cross.
func TestChart(t *testing.T) {
	for _, c := range []struct {
		values []float64
		rows   int
		want   string
	}{
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 1, "▁▂▃▄▅▆▇█"},
		{[]float64{7, math.NaN(), 0, math.Inf(1), math.Inf(-1)}, 1, "█×▁××"},
		{[]float64{3, 3}, 1, "▄▄"},
		{[]float64{0, 15, 7}, 2, " █ \n▁██"},
		{nil, 1, ""},
		{[]float64{math.NaN()}, 1, "×"},
		{[]float64{-math.MaxFloat64, math.MaxFloat64}, 1, "▄▄"},
		{[]float64{0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14}, 1, "▁▂▃▄▅▆▇█"},
	} {
		if got := strings.Join(chart(c.values, 8, c.rows, &fine), "\n"); got != c.want {
			t.Errorf("%v: %q, want %q", c.values, got, c.want)
		}
	}
}

// Text is cut by the columns that it needs: a Chinese character needs two columns, and a combining accent
// none.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		most  int
		want  string
	}{{"plain", 5, 5, "plain"}, {"plain", 5, 4, "pla…"}, {"猫猫猫", 6, 4, "猫…"}, {"e\u0301te\u0301", 3, 3, "e\u0301te\u0301"},
		{"abc", 3, 0, ""}, {"abc", 3, 1, "…"}} {
		if n, got := columns(c.text), cut(c.text, c.most, "…"); n != c.width || got != c.want {
			t.Errorf("%q: %d columns, cut to %q; want %d, %q", c.text, n, got, c.width, c.want)
		}
	}
	if got := middle("bnctl-device-0123456789", 11, "…"); got != "bnctl…56789" {
		t.Errorf("%q", got)
	}
}

// A run is shown if the user requests it. Without a request it is shown on a terminal that is large enough,
// if a person looks at it.
func TestWanted(t *testing.T) {
	yes, no := true, false
	out := &strings.Builder{} // 80 by 24
	for _, c := range []struct {
		asked *bool
		ci    string
		want  bool
	}{{nil, "", true}, {nil, "true", false}, {&yes, "true", true}, {&no, "", false}} {
		if got := Wanted(c.asked, out, func(string) string { return c.ci }); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if size := limited(waiting.Size{Columns: 80, Rows: 24}); size != (waiting.Size{Columns: 79, Rows: 16}) {
		t.Error(size)
	}
}
