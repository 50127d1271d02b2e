package data

import "context"

// aheadReader is a source that can start to read a sample before it is needed.
type aheadReader interface{ readAhead(i int) }

// readAhead implements aheadReader, for files on another machine.
func (p *pictures) readAhead(i int) {
	if start := p.samples[i].ahead; start != nil && p.cache.slots[i].Load() == nil {
		start()
	}
}

// readAhead implements aheadReader.
func (s *subset) readAhead(i int) {
	if src, ok := s.Source.(aheadReader); ok {
		src.readAhead(s.chosen[i])
	}
}

// readInOrder starts to read every step-th sample before it is needed, until stop is called.
func (p *pictures) readInOrder(ctx context.Context, step int) (stop func()) {
	if len(p.samples) == 0 || p.samples[0].ahead == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; i < len(p.samples) && ctx.Err() == nil; i += step {
			p.readAhead(i)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// readAhead starts to read the rows of a batch. Sources on this machine ignore it.
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
