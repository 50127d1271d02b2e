package main

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats"
)

// TestNoteSuspect checks the note about tensors that belong to no layer and were kept. It names the tensors,
// and advises how to leave them out. Without these tensors there is no note.
func TestNoteSuspect(t *testing.T) {
	var said strings.Builder
	noteSuspect(&output{stderr: &said}, nil)
	if said.Len() > 0 {
		t.Errorf("of nothing it says %q", &said)
	}
	noteSuspect(&output{stderr: &said}, []string{"loss.weight", "loss.scale"})
	want := "no layer's by the name, but kept: loss.weight, loss.scale; leave out what predicting does not need, " +
		"--drop 'loss.weight'\n"
	if said.String() != want {
		t.Errorf("%q, want %q", &said, want)
	}
}

// In the advice of a finding, options have the names of flags. The text of the finding is unchanged, because
// it may contain names from the file.
func TestFindingLine(t *testing.T) {
	n := formats.Finding{Where: "x", Text: "is {odd}", Advice: "say {preprocess} raw"}
	if got, want := findingLine(n), "x: is {odd}; say --preprocess raw"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
