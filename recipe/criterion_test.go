package recipe

import (
	"testing"
)

// The best evaluation is the first of equal ones.
func TestBetter(t *testing.T) {
	for _, c := range []struct {
		save    string
		v, best float64
		want    bool
	}{
		{"last", 0.6, 0.5, true}, {"last", 0.5, 0.5, false}, {"best:accuracy", 0.4, 0.5, false},
		{"best:loss", 0.4, 0.5, true}, {"best:loss", 0.5, 0.5, false}, {"best:loss", 0.6, 0.5, false},
		{"best:miou", 0.6, 0.5, true}, {"best:miou", 0.5, 0.5, false},
	} {
		if got := (&Recipe{Save: c.save}).Criterion().IsBetter(c.v, c.best); got != c.want {
			t.Errorf("%s: %g after %g: %v", c.save, c.v, c.best, got)
		}
	}
}
