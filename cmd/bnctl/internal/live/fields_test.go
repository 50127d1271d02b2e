package live

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/bnctl/bnctl/internal/waiting"
	"github.com/bnctl/bnctl/train"
)

// For every width of the terminal the line fits, and contains only whole fields. The estimated time is the
// last field that is left out.
func TestFitted(t *testing.T) {
	fields := figures(train.Stepped{Epoch: 12, Step: 12345, Throughput: 2652.4, Loss: 0.1234,
		Accuracy: 0.9876, InputWait: 0.02, SyncWait: 0.31}, 3725*time.Second)
	whole := []string{"epoch 12", "step 12345", "2652 img/s", "loss 0.1234", "accuracy 98.8 %", "ETA 1h2m5s",
		"input 2 %", "sync 31 %"}
	if got, want := fitted(fields, 200), strings.Join(whole, "  "); got != want {
		t.Fatalf("%q, want %q", got, want)
	}
	before := 0
	for columns := -5; columns <= 120; columns++ {
		line := fitted(fields, columns)
		if line == "" {
			if columns >= len("ETA 1h2m5s") {
				t.Errorf("nothing is shown in %d columns", columns)
			}
			continue
		}
		parts := strings.Split(line, "  ")
		for _, p := range parts {
			if !slices.Contains(whole, p) {
				t.Errorf("%d columns show %q", columns, p)
			}
		}
		if utf8.RuneCountInString(line) > columns || !slices.Contains(parts, "ETA 1h2m5s") || len(parts) < before {
			t.Errorf("%d columns show %q", columns, line)
		}
		before = len(parts)
	}
}

// TestFirstSeconds checks the line before there are figures of steps. Every second it shows the progress of
// the run and the current activity.
func TestFirstSeconds(t *testing.T) {
	t.Setenv("LC_ALL", "C.UTF-8")
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		l := New(&out, train.Started{TotalSteps: 400})
		shown := func() string {
			synctest.Wait()
			lines := strings.Split(strings.TrimSuffix(out.String(), "\r\n\x1b[J"), "\r\x1b[1A")
			return strings.TrimSuffix(lines[len(lines)-1], "\x1b[K")
		}
		blank := "|" + strings.Repeat(" ", barCells) + "|  "
		for _, c := range []struct {
			after time.Duration
			then  func()
			want  string
		}{
			{0, func() {}, "   0% " + blank + "epoch 1  step 0  0:00  400 steps to go"},
			{1500 * time.Millisecond, func() {}, "   0% " + blank + "epoch 1  step 0  0:01  400 steps to go"},
			{6 * time.Second, func() { l.Moment(train.Moment{Step: 2, Epoch: 1}) },
				"   0% " + blank + "epoch 1  step 0  0:07  400 steps to go"},
			// Two steps in 8 s: 398 steps need 1592 s.
			{time.Second, func() { l.Event(train.Stepped{Step: 100, Epoch: 1, Loss: 1.25, Remaining: 1200}) },
				"   0% " + blank + "epoch 1  step 2  0:08  ETA 26m32s"},
			{time.Second, func() {
				l.Moment(train.Moment{Step: 200, Epoch: 2, Doing: "evaluating", Samples: 64, Of: 1000})
			},
				"   0% " + blank + "epoch 1  step 2  loss 1.2500  ETA 20m0s"},
			// Of the 300 steps of the run, 200 are left.
			{time.Second, func() {}, "  50% |" + strings.Repeat("█", 9) + strings.Repeat(" ", 9) +
				"|  epoch 1  evaluating 64 of 1000  ETA 13m20s"},
		} {
			time.Sleep(c.after)
			c.then()
			if got := shown(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		}
		waiting.Above(&out, func() { out.WriteString("epoch 1: train loss 1\n") })
		if !strings.Contains(out.String(), "\r\x1b[1A\x1b[Jepoch 1: train loss 1\n  50%") {
			t.Errorf("%q", out.String())
		}
		l.Stop()
		if !strings.HasSuffix(out.String(), "\r\x1b[1A\x1b[J") {
			t.Errorf("%q is left", out.String())
		}
	})
}

// A terminal without UTF-8 has a bar of plain characters, and a narrow terminal has a line without
// bar.
func TestPlainAndNarrow(t *testing.T) {
	l := &Line{total: 4, moment: train.Moment{Step: 2, Epoch: 1}}
	got := l.draw(waiting.Size{Columns: 60, Rows: 24})[0].Text
	if !strings.HasPrefix(got, "  50% |#########  ") {
		t.Errorf("%q", got)
	}
	for columns := range 40 {
		if row := l.draw(waiting.Size{Columns: columns, Rows: 24})[0]; len(row.Text) >= max(columns, 1) {
			t.Errorf("%d columns show %q", columns, row.Text)
		}
	}
}

// TestClock checks durations in the form of a clock.
func TestClock(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0:00", 7900 * time.Millisecond: "0:07",
		71 * time.Second:   "1:11",
		3723 * time.Second: "1:02:03"} {
		if got := clock(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
