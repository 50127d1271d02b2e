package waiting

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The text is there at once and again after every interval, below the lines that come meanwhile,
// and gone in the end.
func TestScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		drawn := 0
		s := NewScreen(&out, time.Second, func(columns int) string {
			drawn++
			return fmt.Sprintf("%d of %d", drawn, columns)
		})
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		const erase = "\r\x1b[K"
		if got, want := out.String(), "1 of 80"+erase+"2 of 80"+erase+"3 of 80"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		out.Reset()
		s.Above(func() { fmt.Fprintln(&out, "a line") })
		s.Stop()
		if got, want := out.String(), erase+"a line\n4 of 80"+erase; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// Of several lines all are erased, and of none nothing is.
func TestScreenOfLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		texts := []string{"a\nb\nc", "", "d"}
		s := NewScreen(&out, time.Minute, func(int) string {
			text := texts[0]
			texts = texts[1:]
			return text
		})
		s.Above(func() { out.WriteString("x\n") })
		s.Above(func() {})
		s.Stop()
		if got, want := out.String(), "a\nb\nc\r\x1b[K\x1b[A\x1b[K\x1b[A\x1b[Kx\nd\r\x1b[K"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
