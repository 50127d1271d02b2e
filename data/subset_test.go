package data

import (
	"context"
	"slices"
	"testing"
)

func TestSubset(t *testing.T) {
	open := func(n int, seed uint64) Source {
		src, err := Open(t.Context(), "glyphs:50", Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Subset(src, n, seed)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	print := func(s Source) string {
		sum, err := s.Fingerprint(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	whole, some := open(0, 0), open(20, 0)
	if whole.Info().Len != 50 || some.Info().Len != 20 {
		t.Fatalf("%d and %d samples, want 50 and 20", whole.Info().Len, some.Info().Len)
	}
	var names []string
	for i := range 20 {
		got, err := some.Sample(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for whole.Name(at) != some.Name(i) {
			at++
		}
		want, err := whole.Sample(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Bytes, want.Bytes) || !slices.Equal(label(t, some, i), label(t, whole, at)) {
			t.Errorf("sample %d is not sample %d of the whole", i, at)
		}
		names = append(names, some.Name(i))
	}
	if slices.Sort(names); len(slices.Compact(names)) != 20 {
		t.Error("a sample is there twice")
	}
	if print(some) != print(open(20, 0)) || print(some) == print(open(20, 1)) || print(some) == print(whole) {
		t.Error("the fingerprint does not tell which samples they are")
	}
	if _, err := Subset(whole, 51, 0); err == nil {
		t.Error("51 samples of 50 are accepted")
	}
}
