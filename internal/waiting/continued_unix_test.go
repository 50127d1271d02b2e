//go:build unix

package waiting

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// After the program was stopped and continues, the rows are drawn again below, and the text
// above stays.
func TestRowsAreDrawnAgainAfterAStop(t *testing.T) {
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	defer to.Close()
	s := NewScreen(to, time.Hour, func(Size) []Row { return rowsOf("one", "two") })
	defer s.Stop()
	read := func() string {
		b := make([]byte, 1000)
		if err := from.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		n, err := from.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	first := read()
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if again := read(); again != first || strings.Contains(again, "A") {
		t.Errorf("drew %q, then %q", first, again)
	}
}
