package live

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bnctl/bnctl/evaluation"
	"github.com/bnctl/bnctl/train"
)

// field is a part of the line that shows a run. If not all parts fit into the line, those with the highest
// rank are left out first.
type field struct {
	rank int
	text string
}

// Text returns a line about steps of training. It is used where a line cannot be drawn again in place.
func Text(e train.Stepped) string {
	return fitted(figures(e, time.Duration(e.Remaining)*time.Second), 1<<30)
}

// figures returns the fields about steps of training. The remaining time is left out last.
func figures(e train.Stepped, remaining time.Duration) []field {
	return []field{
		{2, fmt.Sprintf("epoch %d", e.Epoch)},
		{3, fmt.Sprintf("step %d", e.Step)},
		{5, fmt.Sprintf("%.0f img/s", e.Throughput)},
		{1, fmt.Sprintf("loss %.4f", e.Loss)},
		{4, accuracy(e.Accuracy)},
		{0, fmt.Sprintf("ETA %s", remaining)},
		{6, fmt.Sprintf("input %.0f %%", 100*e.InputWait)},
		{7, fmt.Sprintf("sync %.0f %%", 100*e.SyncWait)},
	}
}

// accuracy returns an accuracy as text, or "" for models of numbers.
func accuracy(a evaluation.Figure) string {
	if a != a {
		return ""
	}
	return fmt.Sprintf("accuracy %.1f %%", 100*a)
}

// fields returns the fields about the run at the time elapsed: the last figures or, before the first ones,
// its progress.
func (l *Line) fields(elapsed time.Duration) []field {
	doing := field{3, fmt.Sprintf("step %d", l.moment.Step)}
	if l.moment.Doing != "" {
		doing.text = l.moment.Doing
	}
	if l.moment.Of > 0 {
		doing.text += fmt.Sprintf(" %d of %d", l.moment.Samples, l.moment.Of)
	}
	if l.last.Step == 0 {
		return []field{{2, fmt.Sprintf("epoch %d", max(l.moment.Epoch, 1))}, doing, {0, clock(elapsed)},
			{1, l.remaining(elapsed)}}
	}
	list := figures(l.last, l.timeLeft())
	list[1] = doing
	if l.moment.Doing != "" {
		list[1].rank, list[3].rank = 1, 3 // the current activity, in place of the loss
	}
	return append(list, field{8, clock(elapsed)})
}

// timeLeft estimates the time for the remaining steps by the last figures of the run.
func (l *Line) timeLeft() time.Duration {
	d := time.Duration(l.last.Remaining * float64(time.Second))
	if l.moment.Step > l.last.Step && l.last.Step < l.total {
		d = d * time.Duration(l.total-l.moment.Step) / time.Duration(l.total-l.last.Step)
	}
	return d.Truncate(time.Second)
}

// remaining estimates the time for the remaining steps by the time of the steps so far.
func (l *Line) remaining(elapsed time.Duration) string {
	done := l.moment.Step - l.first
	if done <= 0 {
		return fmt.Sprintf("%d steps to go", l.total-l.first)
	}
	d := elapsed / time.Duration(done) * time.Duration(l.total-l.moment.Step)
	return fmt.Sprintf("ETA %s", d.Truncate(time.Second))
}

// clock returns a duration in the form of a clock: "0:07", "1:02:03".
func clock(d time.Duration) string {
	s := int(d.Seconds())
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// fitted returns a line with the largest number of fields that fits into some columns. Fields are never
// truncated, and the line never wraps, because a wrapped line could not be drawn again in place.
func fitted(fields []field, columns int) string {
	for n := len(fields); n >= 0; n-- {
		var texts []string
		for _, f := range fields {
			if f.rank < n && f.text != "" {
				texts = append(texts, f.text)
			}
		}
		if line := strings.Join(texts, "  "); utf8.RuneCountInString(line) <= columns {
			return line
		}
	}
	return ""
}

// Numbers of columns: of the cells of the bar, and of the whole bar with the percentage before it and the
// space after it.
const (
	barCells = 18
	barWidth = barCells + len(" 100% ||  ")
)

// drawBar draws how much of a run is done.
func drawBar(step, total int, unicode bool) string {
	done := 0.0
	if total > 0 {
		done = min(float64(step)/float64(total), 1)
	}
	full, cell := int(done*barCells), "#"
	if unicode {
		cell = "█"
	}
	return fmt.Sprintf("%4d%% |%s%s|  ", int(100*done), strings.Repeat(cell, full), strings.Repeat(" ",
		barCells-full))
}
