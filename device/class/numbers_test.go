package class

import (
	"slices"
	"testing"
)

// TestNumbered checks which numbered classes a device has: int8/1 with every class at f32, nothing at bf16.
func TestNumbered(t *testing.T) {
	for _, c := range []struct {
		name, precision string
		want            []string
	}{
		{FMA, "f32", []string{"fma/1", "int8/1"}},
		{FMA, "", []string{"fma/1", "int8/1"}},
		{Ref, "f32", []string{"int8/1", "ref/1"}},
		{Generic, "f32", []string{"generic/1", "int8/1"}},
		{AMX, "f32", []string{"int8/1"}},
		{FMA, "bf16", nil},
		{Ref, "bf16", nil},
	} {
		if got := Numbered(c.name, c.precision); !slices.Equal(got, c.want) {
			t.Errorf("%s at %s has %q, want %q", c.name, c.precision, got, c.want)
		}
	}
	if all := NumberedClasses(); !slices.IsSorted(all) || len(all) != 4 {
		t.Errorf("numbers %q, want four, sorted", all)
	}
}

// TestParseNumber checks that only one spelling of each number is accepted.
func TestParseNumber(t *testing.T) {
	for text, want := range map[string]bool{"fma/1": true, "int8/12": true, "fma": false, "fma/": false,
		"fma/0": false, "fma/01": false, "/1": false, "fma/1/2": false, "fma/-1": false, "fma/+1": false} {
		if name, n, ok := ParseNumber(text); ok != want {
			t.Errorf("%q is %q, %d, %t", text, name, n, ok)
		}
	}
}
