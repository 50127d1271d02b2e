package server

import (
	"context"
	"sync"
	"time"

	"github.com/bnctl/bnctl/server/internal/repository"
)

// A read may never return, for example from a network share with a server that is down, or from a file of
// /proc. Therefore reads run in separate goroutines. After slowAfter, the server reads other files while it
// waits. After warnAfter, it writes a note.
const (
	slowAfter = time.Second
	warnAfter = 10 * time.Second
)

// pending is a read in progress. The caller waits for its result, or abandons it.
type pending[T any] struct {
	began  time.Time
	answer chan T
	noted  bool // the note about the slow read was written
	mu     sync.Mutex
	undo   func(T) // nil until the read is abandoned
	ended  bool
}

// background calls read in a new goroutine.
func background[T any](read func() T) *pending[T] {
	a := &pending[T]{began: time.Now(), answer: make(chan T, 1)}
	go func() {
		v := read()
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.ended = true; a.undo != nil {
			a.undo(v)
			return
		}
		a.answer <- v
	}()
	return a
}

// wait waits for the result of the read until limit after the read began, or until ctx ends.
func (a *pending[T]) wait(ctx context.Context, limit time.Duration) (v T, ok bool) {
	timer := time.NewTimer(max(0, time.Until(a.began.Add(limit))))
	defer timer.Stop()
	select {
	case v = <-a.answer:
		return v, true
	case <-timer.C:
	case <-ctx.Done():
	}
	select { // the result may have arrived meanwhile
	case v = <-a.answer:
		return v, true
	default:
		return v, false
	}
}

// overdue reports whether the read has lasted longer than warnAfter. It returns true only once.
func (a *pending[T]) overdue() bool {
	if a.noted || time.Since(a.began) < warnAfter {
		return false
	}
	a.noted = true
	return true
}

// abandon stops waiting for the read. When the result arrives, it is passed to undo.
func (a *pending[T]) abandon(undo func(T)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.undo = undo; a.ended {
		undo(<-a.answer)
	}
}

// scanResult is the result of a scan of the models' files.
type scanResult struct {
	files     []repository.File
	unchanged []bool
	skipped   []string
	unread    []string
	err       error
}

// scan scans the paths of the models. ok is false if the scan does not end within limit.
func (k *updater) scan(ctx context.Context, limit time.Duration) (l scanResult, ok bool) {
	if k.scanning == nil {
		k.scanning = background(func() (l scanResult) {
			l.files, l.unchanged, l.err = k.watch.Scan()
			l.skipped, l.unread = k.watch.Skipped, k.watch.Unread
			return l
		})
	}
	if l, ok = k.scanning.wait(ctx, limit); ok {
		k.scanning = nil
	} else if k.scanning.overdue() {
		k.o.note("models are served as they were: nothing has come of a look at their files for %v; "+
			"is the disk there?", warnAfter)
	}
	return l, ok
}

// opened is the result of opening the file of a model.
type opened struct {
	file repository.File
	m    *modelVersion
	err  error
}

// open opens the model of a file, or continues to wait for an earlier open of the file. ok is false if the
// open does not end within limit. ok is also false if the file has changed since the earlier open; the next
// call then opens it again.
func (k *updater) open(ctx context.Context, f repository.File, limit time.Duration) (
	m *modelVersion, err error, ok bool) {
	a := k.opening[f.Path]
	if a == nil {
		a = background(func() opened {
			m, err := open(ctx, f, k.o, k.metrics)
			return opened{f, m, err}
		})
		if k.opening == nil {
			k.opening = map[string]*pending[opened]{}
		}
		k.opening[f.Path] = a
	}
	got, ok := a.wait(ctx, limit)
	if !ok {
		if a.overdue() {
			k.o.note("%s is not served: reading it has not ended for %v, is its disk there? Others are served "+
				"meanwhile", f.Path, warnAfter)
		}
		return nil, nil, false
	}
	delete(k.opening, f.Path)
	if got.file != f {
		closeOpened(got)
		return nil, nil, false
	}
	return got.m, got.err, true
}

// abandon abandons the reads of files that are no longer wanted.
func (k *updater) abandon(wanted []repository.File) {
	paths := map[string]bool{}
	for _, f := range wanted {
		paths[f.Path] = true
	}
	for path, a := range k.opening {
		if !paths[path] {
			a.abandon(closeOpened)
			delete(k.opening, path)
		}
	}
}

func closeOpened(o opened) {
	if o.m != nil {
		_ = o.m.close() // the model has answered no request
	}
}
