package main

import (
	"strings"
	"testing"
)

// TestNoteDoubtful names what was kept in doubt, and how to leave it out; else it is silent.
func TestNoteDoubtful(t *testing.T) {
	var said strings.Builder
	noteDoubtful(&output{stderr: &said}, nil)
	if said.Len() > 0 {
		t.Errorf("of nothing it says %q", &said)
	}
	noteDoubtful(&output{stderr: &said}, []string{"loss.weight", "loss.scale"})
	want := "no layer's by the name, but kept: loss.weight, loss.scale; leave out what predicting does not need, " +
		"--drop 'loss.weight'\n"
	if said.String() != want {
		t.Errorf("%q, want %q", &said, want)
	}
}
