package starter

import (
	"strings"
	"testing"
)

// The program that an author begins with is read in a minute.
func TestProgramIsShort(t *testing.T) {
	if n := strings.Count(program, "\n"); n > 60 {
		t.Errorf("mine/main.go has %d lines, want 60 at most", n)
	}
}
