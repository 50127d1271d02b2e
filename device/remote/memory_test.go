package remote

import "testing"

// TestMemoryOfMessages: memory that was given back is taken again, the smallest
// that is enough, by one message at a time; what is small or too much is not kept.
func TestMemoryOfMessages(t *testing.T) {
	var m memory
	m.give(make([]byte, 4*worthKeeping))
	m.give(make([]byte, 2*worthKeeping))
	m.give(make([]byte, worthKeeping-1))
	for _, c := range []struct{ want, capacity int }{{worthKeeping + 1, 2 * worthKeeping},
		{worthKeeping + 1, 4 * worthKeeping}, {worthKeeping + 1, worthKeeping + 1}, {100, 100}} {
		if b := m.take(c.want); len(b) != 0 || cap(b) != c.capacity {
			t.Errorf("%d bytes of %d, want 0 of %d", len(b), cap(b), c.capacity)
		}
	}
	for range 2 * mostKept {
		m.give(make([]byte, worthKeeping))
	}
	if len(m.free) != mostKept {
		t.Errorf("the memory of %d messages is kept, want %d", len(m.free), mostKept)
	}
	m.give(make([]byte, 4*worthKeeping)) // small ones do not keep a large one out
	if b := m.take(3 * worthKeeping); cap(b) != 4*worthKeeping {
		t.Errorf("%d bytes are taken, want the %d that were given back", cap(b), 4*worthKeeping)
	}
}
