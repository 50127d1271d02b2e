package store

import "time"

// bar reports the progress of a download, a few times a second.
type bar struct {
	s           *Store
	name        string
	done, total int64
	last        time.Time
}

// progressInterval is the time between two reports.
const progressInterval = 200 * time.Millisecond

func newBar(s *Store, o *object, have int64) *bar {
	return &bar{s: s, name: fileName(o.url), done: have, total: max(o.size, 0), last: time.Now()}
}

// Write implements io.Writer.
func (b *bar) Write(p []byte) (int, error) {
	b.done += int64(len(p))
	if b.s.o.Progress != nil && time.Since(b.last) >= progressInterval {
		b.last = time.Now()
		b.s.o.Progress(b.name, b.done, b.total)
	}
	return len(p), nil
}

// end reports the end of the download.
func (b *bar) end() {
	if b.s.o.Progress != nil {
		b.s.o.Progress(b.name, b.done, b.done)
	}
}
