package starter

import (
	"strings"
	"testing"
)

// TestProgramIsShort checks that the program is short enough to be read in a minute.
func TestProgramIsShort(t *testing.T) {
	if n := strings.Count(program, "\n"); n > 60 {
		t.Errorf("mine/main.go has %d lines, want 60 at most", n)
	}
}
