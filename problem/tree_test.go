package problem

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestIn(t *testing.T) {
	a, b, c := New("a", "", "", ""), New("b", "", "", ""), New("c", "", "", "")
	b.Err = fmt.Errorf("beneath: %w", c)
	err := fmt.Errorf("x: %w; %w", a, errors.Join(errors.New("plain"), b))
	if got := In(err); !slices.Equal(got, []*Error{a, b, c}) {
		t.Error(got)
	}
	if got := In(errors.New("plain")); got != nil {
		t.Error(got)
	}
}

func TestSplit(t *testing.T) {
	inner := Advise("use {batch} 4", "too much")
	for _, c := range []struct {
		err          error
		text, advice string
	}{
		{errors.New("a; b"), "a; b", ""},
		{inner, "too much", "use {batch} 4"},
		{fmt.Errorf("far: %w", inner), "far: too much", "use {batch} 4"},
		{fmt.Errorf("%w\nlog", inner), "too much; use batch 4\nlog", "use {batch} 4"},
		{fmt.Errorf("a: %w", Failure("", "no advice", "")), "a: no advice", ""},
	} {
		if text, advice := Split(c.err); text != c.text || advice != c.advice {
			t.Errorf("%v: %q and %q, want %q and %q", c.err, text, advice, c.text, c.advice)
		}
	}
	if got := ReplaceOptions("{key} a takes it, {not} {2}", strings.ToUpper); got != "KEY a takes it, NOT {2}" {
		t.Error(got)
	}
}
