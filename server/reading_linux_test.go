package server

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestAReadThatNeverReturns tests a file with a read that never returns, and a pipe. Other files must still
// be served, and the server must be able to end.
func TestAReadThatNeverReturns(t *testing.T) {
	if f, err := os.Open("/proc/kmsg"); err != nil {
		t.Skip("no file here whose read does not return:", err)
	} else {
		f.Close()
	}
	folder := t.TempDir()
	write(t, newModel(t, 1), folder+"/a.bnm")
	var mu sync.Mutex
	var notes []string
	o := inFolder(folder)
	o.Note = func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		notes = append(notes, fmt.Sprintf(format, args...))
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	if err := os.Symlink("/proc/kmsg", folder+"/kmsg.bnm"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * o.Poll)
	write(t, newModel(t, 2), folder+"/b.bnm")
	until(t, "b beside it", func() bool { return serving(s) == "a:1 b:1" })
	until(t, "a note of it", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return strings.Contains(strings.Join(notes, "\n"), "kmsg.bnm is not served: reading it has not ended for 10s")
	})
	began := time.Now()
	stop()
	if err := <-ended; err != nil || time.Since(began) > 2*time.Second {
		t.Errorf("the server ended after %v: %v", time.Since(began), err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestAReadThatNeverReturnsAtTheStart checks that a server can be ended if a read at its start never
// returns.
func TestAReadThatNeverReturnsAtTheStart(t *testing.T) {
	if f, err := os.Open("/proc/kmsg"); err != nil {
		t.Skip("no file here whose read does not return:", err)
	} else {
		f.Close()
	}
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	began := time.Now()
	s, err := Open(ctx, inFolder("/proc/kmsg"))
	if err == nil {
		s.Close()
	}
	if err == nil || time.Since(began) > 3*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}
