package problem

import (
	"errors"
	"fmt"
	"slices"
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
