package main

import (
	"bytes"
	"encoding/csv"
	"testing"

	"github.com/bnctl/bnctl/internal/legible"
)

// CSV that is written to a terminal has no control characters except line feeds. CSV that is written to
// anything else is unchanged.
func TestCSVOnATerminal(t *testing.T) {
	rows := [][]string{{"sample", "label"}, {"a\x1b[31m.png", "caf\u00e9"}, {"b\a.png", "x\u202ey"}}
	var shown, plain bytes.Buffer
	if err := csv.NewWriter(&legible.Writer{To: &shown}).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	if err := csv.NewWriter(csvTo(&plain)).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	if want := "sample,label\na\\x1b[31m.png,caf\u00e9\nb\\a.png,x\\u202ey\n"; shown.String() != want {
		t.Errorf("%q, want %q", shown.String(), want)
	}
	if want := "sample,label\na\x1b[31m.png,caf\u00e9\nb\a.png,x\u202ey\n"; plain.String() != want {
		t.Errorf("%q, want %q", plain.String(), want)
	}
}
