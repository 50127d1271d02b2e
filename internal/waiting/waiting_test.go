package waiting

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A long wait is noted repeatedly, and a short one never.
func TestNotesOfWhatTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		l := New(&out, true, false, 10*time.Second)
		l.Begin("a")
		time.Sleep(9 * time.Second)
		l.Begin("b\x1b")
		time.Sleep(32 * time.Second)
		l.Stop()
		got := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(got) != 3 || strings.Contains(out.String(), "\x1b") || !strings.HasPrefix(got[0], "b") ||
			!strings.HasSuffix(got[0], ": no answer for 11s") || !strings.HasSuffix(got[2], ": no answer for 31s") {
			t.Errorf("%q", got)
		}
	})
}

// On a terminal the line shows the current wait, cut to the columns of the terminal. It is erased before
// other lines are printed.
func TestLineOnATerminal(t *testing.T) {
	var out strings.Builder
	l := New(&out, true, true, time.Minute)
	l.Begin(strings.Repeat("a", 90))
	l.Clear()
	l.Clear()
	l.Stop()
	if want := "\r\x1b[K" + strings.Repeat("a", 79) + "\r\x1b[K"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
