package main

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats"
)

// TestNoteSuspect checks that doubtful tensors that were kept are named, with advice on how
// to leave them out, and that otherwise nothing is noted.
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

// Advice about a finding names options as the command line does. The text, which may
// contain names from the file, is unchanged.
func TestFindingLine(t *testing.T) {
	n := formats.Finding{Where: "x", Text: "is {odd}", Advice: "say {preprocess} raw"}
	if got, want := findingLine(n), "x: is {odd}; say --preprocess raw"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
