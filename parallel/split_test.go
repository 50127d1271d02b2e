package parallel

import (
	"slices"
	"testing"
)

// Each policy places the rows of a tail. 1825 samples in batches of 16 leave one row for two
// replicas; the empty replica turns the statistics of Keras into NaN.
func TestSlice(t *testing.T) {
	for _, c := range []struct {
		tail                  Tail
		rows, batch, replicas int
		want                  Slices
	}{
		{Keep, 16, 16, 2, Slices{Sizes: []int{8, 8}}},
		{Pad, 16, 16, 2, Slices{Sizes: []int{8, 8}}},
		{Repeat, 16, 16, 2, Slices{Sizes: []int{8, 8}}},
		{Drop, 16, 16, 2, Slices{Sizes: []int{8, 8}}},
		{Keep, 1, 16, 2, Slices{Sizes: []int{1, 0}}},
		{Pad, 1, 16, 2, Slices{Sizes: []int{1, 0}}},
		{Repeat, 1, 16, 2, Slices{Sizes: []int{8, 8}, Repeated: 15}},
		{Drop, 1, 16, 2, Slices{Sizes: []int{0, 0}, Dropped: 1}},
		{Keep, 10, 12, 4, Slices{Sizes: []int{3, 3, 2, 2}}},
		{Pad, 10, 14, 4, Slices{Sizes: []int{4, 4, 2, 0}}}, // a full batch has 4, 4, 3 and 3 rows
		{Repeat, 10, 14, 4, Slices{Sizes: []int{4, 4, 3, 3}, Repeated: 4}},
		{Keep, 0, 4, 3, Slices{Sizes: []int{0, 0, 0}}},
	} {
		got := c.tail.Slice(c.rows, c.batch, c.replicas)
		if !slices.Equal(got.Sizes, c.want.Sizes) || got.Repeated != c.want.Repeated ||
			got.Dropped != c.want.Dropped {
			t.Errorf("%s: %d of %d rows over %d replicas: %+v, want %+v", c.tail, c.rows, c.batch, c.replicas, got,
				c.want)
		}
		if n := got.Rows() - got.Repeated + got.Dropped; n != c.rows {
			t.Errorf("%s: %d real rows of %d", c.tail, n, c.rows)
		}
	}
}

func TestParseTail(t *testing.T) {
	for _, tail := range Tails() {
		if got, err := ParseTail(string(tail)); got != tail || err != nil {
			t.Errorf("%s: %s, %v", tail, got, err)
		}
	}
	if _, err := ParseTail("throw"); err == nil {
		t.Error("throw: no error")
	}
}
