package waiting

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// rowsOf returns rows of plain text.
func rowsOf(lines ...string) []Row {
	var rows []Row
	for _, l := range lines {
		rows = append(rows, Row{l, len(l)})
	}
	return rows
}

// The rows are drawn at once and again after every interval, below the lines that are printed meanwhile.
// They are removed in the end. Rows that have not changed are not drawn again.
func TestScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		drawn := 0
		s := NewScreen(&out, time.Second, func(size Size) []Row {
			drawn++
			return rowsOf("same", fmt.Sprintf("%d of %d", drawn, size.Columns))
		})
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		const back = "\r\x1b[2A"
		want := "same\r\n1 of 80\r\n\x1b[J" + back + "\r\n2 of 80\x1b[K\r\n\x1b[J" + back + "\r\n3 of 80\x1b[K\r\n\x1b[J"
		if got := out.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		out.Reset()
		Above(&out, func() { fmt.Fprintln(&out, "a line") })
		s.Stop()
		Above(&out, func() { fmt.Fprintln(&out, "another") })
		want = back + "\x1b[Ja line\nsame\r\n4 of 80\r\n\x1b[J" + back + "\x1b[Janother\n"
		if got := out.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// A screen draws any number of rows, also 0.
func TestScreenOfLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		texts := [][]Row{rowsOf("a", "b", "c"), nil, rowsOf("d")}
		s := NewScreen(&out, time.Minute, func(Size) []Row {
			rows := texts[0]
			texts = texts[1:]
			return rows
		})
		Above(&out, func() { out.WriteString("x\n") })
		Above(&out, func() {})
		s.Stop()
		want := "a\r\nb\r\nc\r\n\x1b[J\r\x1b[3A\x1b[Jx\nd\r\n\x1b[J\r\x1b[1A\x1b[J"
		if got := out.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// A screen never draws more in a second than a slow line can carry, however much changes and is
// printed above. In the end all lines are there, in order.
func TestScreenIsSparing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &counter{}
		n := 0
		s := NewScreen(out, time.Second, func(Size) []Row {
			n++
			var lines []string
			for range 20 {
				lines = append(lines, strings.Repeat(string(rune('a'+n%20)), 500))
			}
			return rowsOf(lines...)
		})
		var notes []string
		time.Sleep(50 * time.Millisecond) // between two intervals
		for i := range 50 {
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			Above(out, func() { notes = append(notes, fmt.Sprint(i)) })
			if i%10 == 8 && out.bytes > 4096 {
				t.Errorf("%d bytes in second %d", out.bytes, i/10)
			}
			if i%10 == 8 {
				out.bytes = 0
			}
		}
		s.Stop()
		if len(notes) != 50 || notes[0] != "0" || notes[49] != "49" {
			t.Errorf("notes %v", notes)
		}
	})
}

// If lines come several times in a second, no row is blank: the lines wait until all rows can be drawn below
// them.
func TestScreenIsWholeBelowLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &counter{}
		n, printed := 0, 0
		s := NewScreen(out, time.Second, func(Size) []Row {
			n++
			var lines []string
			for range 20 {
				lines = append(lines, strings.Repeat(string(rune('a'+n%20)), 150))
			}
			return rowsOf(lines...)
		})
		time.Sleep(50 * time.Millisecond)
		for i := range 40 {
			Above(out, func() { printed++ })
			time.Sleep(250 * time.Millisecond)
			synctest.Wait()
			s.mu.Lock()
			for k, r := range s.rows {
				if r.Text == "" {
					t.Errorf("row %d is blank at %d", k, i)
				}
			}
			s.mu.Unlock()
			if late := i - printed; late > 8 {
				t.Errorf("%d lines wait", late)
			}
		}
		s.Stop()
	})
}

// Rows that could not be drawn are drawn in the next intervals, all of them in turn.
func TestScreenDrawsAllRowsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		wide := func(i int) string { return fmt.Sprintf("%02d%s", i, strings.Repeat("x", 998)) }
		s := NewScreen(&out, time.Second, func(Size) []Row {
			return rowsOf(wide(0), wide(1), wide(2), wide(3), wide(4), wide(5), wide(6), wide(7), wide(8), wide(9))
		})
		time.Sleep(8500 * time.Millisecond)
		synctest.Wait()
		s.Stop()
		for i := range 10 {
			if n := strings.Count(out.String(), wide(i)); n != 1 {
				t.Errorf("row %d is drawn %d times", i, n)
			}
		}
	})
}

// counter counts bytes.
type counter struct{ bytes int }

func (c *counter) Write(b []byte) (int, error) {
	c.bytes += len(b)
	return len(b), nil
}

// A terminal that has become narrower shows one row in several lines, and all of these lines are
// erased.
func TestScreenThatWasResized(t *testing.T) {
	s := &Screen{rows: rowsOf(strings.Repeat("a", 79), "", strings.Repeat("b", 41), "c"), size: Size{80, 24}}
	for now, want := range map[Size]int{{80, 24}: 4, {40, 24}: 2 + 1 + 2 + 1, {1, 24}: 23, {200, 24}: 4,
		{79, 3}: 2} {
		if got := s.height(now); got != want {
			t.Errorf("%v: %d lines, want %d", now, got, want)
		}
	}
}

// A program that ends at once waits for the drawing in progress, and nothing is drawn
// afterwards.
func TestLeave(t *testing.T) {
	out := &counter{}
	s := NewScreen(out, time.Millisecond, func(Size) []Row { return rowsOf("a") })
	Leave(out, time.Minute)
	drawn := out.bytes
	time.Sleep(5 * time.Millisecond)
	if out.bytes != drawn {
		t.Error("something was drawn after Leave")
	}
	s.mu.Unlock()
	s.Stop()
	Leave(io.Discard, time.Minute) // without a screen Leave returns at once
}

// The environment determines whether UTF-8 is shown, the most specific variable first.
func TestUnicode(t *testing.T) {
	for set, want := range map[[3]string]bool{{"", "", "de_DE.UTF-8"}: true, {"C", "", "de_DE.UTF-8"}: false,
		{"", "C.utf8", "C"}: true, {"", "", "C"}: false, {"", "", "de_DE.ISO-8859-1"}: false} {
		env := map[string]string{"LC_ALL": set[0], "LC_CTYPE": set[1], "LANG": set[2]}
		if got := Unicode(func(name string) string { return env[name] }); got != want {
			t.Errorf("%q: %v", set, got)
		}
	}
}
