package data

import "context"

// aheadReader is a source that can start to read a sample before it is needed.
type aheadReader interface{ readAhead(i int) }

// readAhead implements aheadReader. It is useful for files on another machine.
func (p *pictures) readAhead(i int) {
	if p.cache.slots[i].Load() != nil {
		return
	}
	s := &p.samples[i]
	for _, start := range []func(){s.prefetch, s.mask.prefetch} {
		if start != nil {
			start()
		}
	}
}

// StartReading starts to read files in the background, before they are needed, until stop is called. It does
// nothing for files on this machine.
func StartReading(ctx context.Context, files []File) (stop func()) {
	return inBackground(ctx, len(files), func(i int) {
		if start := files[i].prefetch; start != nil {
			start()
		}
	})
}

// inBackground calls f(0) to f(n-1) in a goroutine, until stop is called.
func inBackground(ctx context.Context, n int, f func(i int)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; i < n && ctx.Err() == nil; i++ {
			f(i)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// readAhead implements aheadReader.
func (s *subset) readAhead(i int) {
	if src, ok := s.Source.(aheadReader); ok {
		src.readAhead(s.chosen[i])
	}
}

// readInOrder starts to read every step-th sample in the background, before it is needed, until stop is
// called.
func (p *pictures) readInOrder(ctx context.Context, step int) (stop func()) {
	if len(p.samples) == 0 || p.samples[0].prefetch == nil {
		return func() {}
	}
	return inBackground(ctx, (len(p.samples)+step-1)/step, func(i int) { p.readAhead(i * step) })
}

// readAhead starts to read the rows of a batch in the background. It has no effect for sources on this
// machine.
func (l *Loader) readAhead(b *Batch, wanted func(row int) bool) {
	src, ok := l.src.(aheadReader)
	if !ok {
		return
	}
	l.wait.Go(func() {
		for row := range b.Len() {
			if l.ctx.Err() != nil {
				return
			}
			if wanted == nil || wanted(row) {
				src.readAhead(int(b.samples[row]))
			}
		}
	})
}
