package main

import (
	"bytes"
	"testing"

	"github.com/bnctl/bnctl/internal/legible"
)

// TestCSVOnEveryTerminal: names are made legible on every terminal, whatever TERM is, and nowhere else.
func TestCSVOnEveryTerminal(t *testing.T) {
	_, screen := openTerminal(t, 80, 24)
	for _, term := range []string{"xterm", "dumb", ""} {
		t.Setenv("TERM", term)
		if _, ok := csvTo(screen).(*legible.Writer); !ok {
			t.Errorf("TERM=%s: control characters reach the terminal", term)
		}
	}
	var file bytes.Buffer
	if csvTo(&file) != &file {
		t.Error("a file is not written as it is")
	}
}
