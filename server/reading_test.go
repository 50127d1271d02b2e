package server

import (
	"context"
	"testing"
	"time"
)

// TestWhatDoesNotReturn checks that the server waits for a read that does not return no longer than the
// limit. If the result arrives late, the next caller gets it. If the read was abandoned, the result is
// undone.
func TestWhatDoesNotReturn(t *testing.T) {
	release := make(chan bool)
	slow := background(func() int { <-release; return 7 })
	if _, ok := slow.wait(t.Context(), time.Millisecond); ok {
		t.Error("an answer")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, ok := slow.wait(ended, forever); ok {
		t.Error("an answer after the end")
	}
	if slow.overdue() {
		t.Error("late at once")
	}
	if slow.began = time.Now().Add(-warnAfter); !slow.overdue() || slow.overdue() {
		t.Error("that it is late is not told once")
	}
	release <- true
	if v, ok := slow.wait(t.Context(), forever); !ok || v != 7 {
		t.Errorf("%d, %v", v, ok)
	}
	undone := make(chan int, 1)
	undo := func(v int) { undone <- v }
	lost := background(func() int { <-release; return 8 })
	lost.abandon(undo)
	release <- true
	if v := <-undone; v != 8 {
		t.Errorf("%d is undone", v)
	}
	done := background(func() int { return 9 })
	until(t, "the answer", func() bool { return len(done.answer) == 1 })
	done.abandon(undo)
	if v := <-undone; v != 9 {
		t.Errorf("%d is undone", v)
	}
}
