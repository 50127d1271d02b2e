package problem

import (
	"errors"
	"io/fs"
	"testing"
)

// Options have bare names, or the names that a program gives them; other text in braces stays.
func TestCalling(t *testing.T) {
	e := New("batch", "4", "smaller than {replicas} 8", "use {replicas} 4, or {bn-min} {Running} {}")
	if got, want := e.Error(), "batch 4: smaller than replicas 8; use replicas 4, or bn-min {Running} {}"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	flags := e.WithOptionNames(func(option string) string { return "--" + option })
	want := "--batch 4: smaller than --replicas 8; use --replicas 4, or --bn-min {Running} {}"
	if got := flags.Error(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if e.Field != "batch" {
		t.Error("the error itself is another")
	}
}

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		e    *Error
		want string
	}{
		{New("", "", "two at once", ""), "two at once"},
		{New("", "x", "two at once", "use one"), "two at once; use one"},
		{New("lr", "", "not finite", ""), "lr: not finite"},
		{Wrap("init", fs.ErrNotExist), "init: file does not exist"},
	} {
		if got := c.e.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	cause := &Error{Text: "none", Err: fs.ErrNotExist}
	if !errors.Is(cause, fs.ErrNotExist) {
		t.Error("the cause is lost")
	}
}

func TestCounted(t *testing.T) {
	for _, c := range []struct {
		n           int
		thing, want string
	}{
		{0, "replica", "0 replicas"}, {1, "replica", "1 replica"}, {2, "replica", "2 replicas"},
		{0, "class", "0 classes"}, {1, "class", "1 class"}, {12, "class", "12 classes"},
		{3, "batch", "3 batches"}, {2, "batch norm", "2 batch norms"}, {8, "epoch", "8 epochs"}, {1, "more replica", "1 more replica"},
		{-1, "sample", "-1 samples"},
	} {
		if got := Plural(c.n, c.thing); got != c.want {
			t.Errorf("%d of %s: %q, want %q", c.n, c.thing, got, c.want)
		}
	}
}
