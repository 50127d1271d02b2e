package waiting

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// most is the number of bytes that a screen draws in an interval, not counting text printed above it. The
// output may be sent over a slow line, or into a log.
const most = 3700

// Row is a line of a screen.
type Row struct {
	Text    string // text with escape sequences, which also reset the colours
	Columns int    // width of the text on the terminal
}

// Screen keeps rows at the end of a terminal's text, and draws them again after every
// interval, so that the user sees that the program is running. The cursor is in an empty
// line below them, and the modes of the terminal are not changed: however the program ends,
// the terminal is as it was. The methods may be called from any goroutine.
type Screen struct {
	w    io.Writer
	draw func(Size) []Row
	quit chan struct{}
	wait sync.WaitGroup

	interval time.Duration

	mu      sync.Mutex // guards the fields below and the writer
	rows    []Row      // on the terminal now
	size    Size       // size of the terminal that the rows were drawn for
	drawn   []frame    // frames drawn in the last interval
	next    int        // the row to draw first if not all rows can be drawn
	waiting []func()   // print lines above when the next interval begins
	putOff  bool       // the waiting lines were postponed when this interval began
}

// frame records how many bytes were drawn at once, and when.
type frame struct {
	time  time.Time
	bytes int
}

// NewScreen begins to show the rows that draw returns for a terminal of some size. draw must return
// legible text, fewer rows than the terminal has, and rows that are shorter than its lines. draw is
// called by one goroutine at a time. The caller stops the screen. A writer has one screen at a time:
// see Above.
func NewScreen(w io.Writer, interval time.Duration, draw func(Size) []Row) *Screen {
	s := &Screen{w: w, draw: draw, interval: interval, quit: make(chan struct{})}
	screens.Store(w, s)
	s.redraw()
	continued, end := continuations(w)
	s.wait.Go(func() {
		defer end()
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-s.quit:
				return
			case <-continued:
				s.goOn()
			case <-tick.C:
				s.redraw()
			}
		}
	})
	return s
}

// goOn draws the rows again after the program was stopped for a while. The shell has
// written below the old rows, so the cursor has moved. The old rows stay as they were when
// the program stopped.
func (s *Screen) goOn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows = nil
	s.update(SizeOf(s.w))
}

// redraw begins an interval. If the rows could not all be drawn again below the waiting lines, the
// lines wait one more interval and the rows stay. If they did not wait, lines that come several times
// in an interval would leave some rows blank all the time.
func (s *Screen) redraw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.update(SizeOf(s.w))
		return
	}
	if s.putOff = !s.putOff && s.spent()+s.cost() > most; !s.putOff {
		s.print(s.waiting...)
		s.waiting = nil
	}
}

// cost returns the approximate number of bytes needed to draw all rows once more.
func (s *Screen) cost() int {
	n := 0
	for _, r := range s.rows {
		n += len(r.Text) + 8
	}
	return n
}

// above lets write print lines above the rows. It does so at once, or when the next interval begins if
// drawing the rows again would exceed the limit of the current interval.
func (s *Screen) above(write func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if spent := s.spent(); len(s.waiting) > 0 || spent > 0 && spent+s.cost() > most {
		s.waiting = append(s.waiting, write)
		return
	}
	s.print(write)
}

// print lets functions print lines, and draws the rows below them.
func (s *Screen) print(writes ...func()) {
	s.erase(SizeOf(s.w))
	for _, write := range writes {
		write()
	}
	s.update(SizeOf(s.w))
}

// Stop removes the rows and ends the screen.
func (s *Screen) Stop() {
	close(s.quit)
	s.wait.Wait()
	screens.CompareAndDelete(s.w, s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase(SizeOf(s.w))
	for _, write := range s.waiting {
		write()
	}
	s.waiting = nil
}

// erase removes the rows; the cursor is then at the start of the first row.
func (s *Screen) erase(size Size) {
	if len(s.rows) > 0 {
		s.write(up(s.height(size)) + "\x1b[J")
	}
	s.rows = nil
}

// height returns the number of terminal lines from the first row to the cursor. A terminal
// that has become narrower shows a row in several lines.
func (s *Screen) height(size Size) int {
	if size == s.size {
		return len(s.rows)
	}
	lines := 0
	for _, r := range s.rows {
		lines += max((r.Columns+size.Columns-1)/size.Columns, 1)
	}
	return min(lines, size.Rows-1)
}

// update draws the current rows, except those that are already on the terminal.
func (s *Screen) update(size Size) {
	rows := s.draw(size)
	rows = rows[:min(len(rows), max(size.Rows-1, 0))] // one more row would scroll the terminal
	if size != s.size || len(rows) != len(s.rows) {
		s.erase(size)
		s.size = size
	}
	fresh := len(s.rows) == 0
	if fresh {
		s.rows = make([]Row, len(rows))
	}
	changed := s.affordable(rows, fresh)
	var out strings.Builder
	if !fresh {
		out.WriteString(up(len(rows)))
	}
	for i, r := range rows {
		if changed[i] {
			out.WriteString(r.Text)
			s.rows[i] = r
			if !fresh {
				out.WriteString("\x1b[K")
			}
		}
		out.WriteString("\r\n")
	}
	if len(rows) > 0 {
		out.WriteString("\x1b[J") // erases what the user has typed in between
		s.write(out.String())
	}
}

// affordable returns the rows to draw: all that have changed, or the number that this
// interval allows, beginning with those that were left out before.
func (s *Screen) affordable(rows []Row, fresh bool) []bool {
	changed := make([]bool, len(rows))
	left, first := most-s.spent()-8*len(rows), s.next
	for k := range rows {
		i := (first + k) % len(rows)
		if !fresh && rows[i] == s.rows[i] {
			continue
		}
		if left -= len(rows[i].Text); left < 0 {
			s.next = i
			break
		}
		changed[i] = true
	}
	return changed
}

// write writes to the terminal. It ignores errors: a terminal that cannot be written to does not stop the
// program.
func (s *Screen) write(text string) {
	s.drawn = append(s.drawn, frame{time.Now(), len(text)})
	_, _ = io.WriteString(s.w, text)
}

// spent returns the bytes that were drawn in about the last interval. It looks back a little further,
// because ticks are not exact.
func (s *Screen) spent() int {
	since := time.Now().Add(-s.interval - s.interval/20)
	s.drawn = slices.DeleteFunc(s.drawn, func(f frame) bool { return f.time.Before(since) })
	n := 0
	for _, f := range s.drawn {
		n += f.bytes
	}
	return n
}

// up moves the cursor to the beginning of the line that is n lines above.
func up(n int) string {
	if n == 0 {
		return "\r"
	}
	return "\r\x1b[" + strconv.Itoa(n) + "A"
}

// screens are the screens that are shown now, by their writers.
var screens sync.Map

// Above lets write print lines to a writer, above the screen on this writer if there is one. Then the lines
// may appear an interval later.
func Above(w io.Writer, write func()) {
	if s, ok := screens.Load(w); ok {
		s.(*Screen).above(write)
		return
	}
	write()
}

// Leave waits until no screen is drawing on a writer, and prevents further drawing, for a
// program that ends at once. The text of the screen stays.
func Leave(w io.Writer, patience time.Duration) {
	v, ok := screens.Load(w)
	if !ok {
		return
	}
	for began := time.Now(); !v.(*Screen).mu.TryLock() && time.Since(began) < patience; {
		time.Sleep(time.Millisecond)
	}
}
