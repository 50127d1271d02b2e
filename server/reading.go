package server

import (
	"context"
	"sync"
	"time"

	"github.com/bnctl/bnctl/server/internal/repository"
)

// What is asked of a disk may never return: a share whose server is gone, a file
// of /proc. So it is asked by goroutines that nobody has to wait for. Others are
// read when one takes so long, and it is told of when it takes that long.
const (
	goOnAfter = time.Second
	tellAfter = 10 * time.Second
)

// pending is what is asked of a disk. Whoever asked takes the answer, or gives it up.
type pending[T any] struct {
	began  time.Time
	answer chan T
	told   bool // that it takes long
	mu     sync.Mutex
	undo   func(T) // nil until it is given up
	over   bool
}

// inTheBackground calls read, for as long as it takes.
func inTheBackground[T any](read func() T) *pending[T] {
	a := &pending[T]{began: time.Now(), answer: make(chan T, 1)}
	go func() {
		v := read()
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.over = true; a.undo != nil {
			a.undo(v)
			return
		}
		a.answer <- v
	}()
	return a
}

// within waits for the answer, until a time after the question or the end of ctx.
func (a *pending[T]) within(ctx context.Context, limit time.Duration) (v T, ok bool) {
	timer := time.NewTimer(max(0, time.Until(a.began.Add(limit))))
	defer timer.Stop()
	select {
	case v = <-a.answer:
		return v, true
	case <-timer.C:
	case <-ctx.Done():
	}
	select { // it is there by now
	case v = <-a.answer:
		return v, true
	default:
		return v, false
	}
}

// late reports whether it takes so long that somebody should know, once.
func (a *pending[T]) late() bool {
	if a.told || time.Since(a.began) < tellAfter {
		return false
	}
	a.told = true
	return true
}

// giveUp has undo called with the answer, if there ever is one.
func (a *pending[T]) giveUp(undo func(T)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.undo = undo; a.over {
		undo(<-a.answer)
	}
}

// looked is what a look at the paths finds.
type looked struct {
	files   []repository.File
	still   []bool
	skipped []string
	unread  []string
	err     error
}

// look looks at the paths; not ok: that takes longer.
func (k *keeper) look(ctx context.Context, limit time.Duration) (l looked, ok bool) {
	if k.looking == nil {
		k.looking = inTheBackground(func() (l looked) {
			l.files, l.still, l.err = k.watch.Look()
			l.skipped, l.unread = k.watch.Skipped, k.watch.Unread
			return l
		})
	}
	if l, ok = k.looking.within(ctx, limit); ok {
		k.looking = nil
	} else if k.looking.late() {
		k.o.note("models are served as they were: nothing has come of a look at their files for %v; "+
			"is the disk there?", tellAfter)
	}
	return l, ok
}

// opened is what comes of the file of a model.
type opened struct {
	file repository.File
	m    *served
	err  error
}

// open opens the model of a file, or what that began before; not ok: it takes
// longer. A file that has changed since then is opened again.
func (k *keeper) open(ctx context.Context, f repository.File, limit time.Duration) (m *served, err error,
	ok bool) {
	a := k.opening[f.Path]
	if a == nil {
		a = inTheBackground(func() opened {
			m, err := open(ctx, f, k.o, k.metrics)
			return opened{f, m, err}
		})
		if k.opening == nil {
			k.opening = map[string]*pending[opened]{}
		}
		k.opening[f.Path] = a
	}
	got, ok := a.within(ctx, limit)
	if !ok {
		if a.late() {
			k.o.note("%s is not served: reading it has not ended for %v, is its disk there? Others are served "+
				"meanwhile", f.Path, tellAfter)
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

// giveUp lets go what is asked of disks: of files that are wanted no more.
func (k *keeper) giveUp(wanted []repository.File) {
	paths := map[string]bool{}
	for _, f := range wanted {
		paths[f.Path] = true
	}
	for path, a := range k.opening {
		if !paths[path] {
			a.giveUp(closeOpened)
			delete(k.opening, path)
		}
	}
}

func closeOpened(o opened) {
	if o.m != nil {
		_ = o.m.close() // nothing was asked of it
	}
}
