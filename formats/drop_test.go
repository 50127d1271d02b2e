package formats

import (
	"fmt"
	"strings"
	"testing"
)

func TestDrop(t *testing.T) {
	for _, c := range []struct{ in, patterns, want, unmatched string }{
		{"a.w b.w", "b.*", "a.w", "[]"},
		{"a.w b.w b.c.w", "b.*", "a.w", "[]"},
		{"a/w b/c/w", "b/*", "a/w", "[]"}, // as TensorFlow names them
		{"a.w b.w", "?.w", "", "[]"},
		{"a.w", "b.* a", "a.w", "[b.* a]"},
	} {
		f := named(strings.Fields(c.in)...)
		unmatched, err := drop(f, strings.Fields(c.patterns))
		if got := namesOf(f); err != nil || got != c.want || fmt.Sprint(unmatched) != c.unmatched {
			t.Errorf("%s without %s: %s, unmatched %s, %v", c.in, c.patterns, got, unmatched, err)
		}
	}
	if _, err := drop(named("a"), []string{"["}); err == nil {
		t.Error("a bad pattern was taken")
	}
}
