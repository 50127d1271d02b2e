package data

import (
	"slices"
	"testing"
)

// Relabel changes the class of each pixel. A pixel of -1 stays ignored, and everything else stays as in the
// source.
func TestRelabel(t *testing.T) {
	dir := photos(t, file{"a.png", maskOf(t, 0, 1, 2, 255, 1, 1)}, file{"b.png", maskOf(t, 2, 2, 2, 2, 2, 3)})
	src := open(t, masksIn(dir), Options{})
	got := Relabel(src, []int{3, 0, 2, 4}, []string{"1", "x", "2", "0", "3"})
	if l := label(t, got, 0); !slices.Equal(l, []int32{3, 0, 2, -1, 0, 0}) {
		t.Errorf("label %v", l)
	}
	was, is := src.Info(), got.Info()
	if len(is.Classes) != 5 || is.Len != was.Len || !is.Masks || len(was.Classes) != 4 {
		t.Errorf("info %+v", is)
	}
	if h, w, err := sizeIn(t.Context(), got, 1); h != 2 || w != 3 || err != nil {
		t.Errorf("size %d x %d, %v", w, h, err)
	}
	if same := Relabel(src, []int{0, 1, 2, 3}, was.Classes); same != src {
		t.Error("the classes of the source make another source")
	}
}
