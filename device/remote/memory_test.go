package remote

import "testing"

// TestMemoryOfMessages checks that a message reuses the smallest returned memory that is
// large enough, one message at a time, and that small or excess memory is not kept.
func TestMemoryOfMessages(t *testing.T) {
	var m messagePool
	m.put(make([]byte, 4*minPooled))
	m.put(make([]byte, 2*minPooled))
	m.put(make([]byte, minPooled-1))
	for _, c := range []struct{ want, capacity int }{{minPooled + 1, 2 * minPooled},
		{minPooled + 1, 4 * minPooled}, {minPooled + 1, minPooled + 1}, {100, 100}} {
		if b := m.get(c.want); len(b) != 0 || cap(b) != c.capacity {
			t.Errorf("%d bytes of %d, want 0 of %d", len(b), cap(b), c.capacity)
		}
	}
	for range 2 * maxPooled {
		m.put(make([]byte, minPooled))
	}
	if len(m.free) != maxPooled {
		t.Errorf("the memory of %d messages is kept, want %d", len(m.free), maxPooled)
	}
	m.put(make([]byte, 4*minPooled)) // a large piece is kept although the pool is full of small ones
	if b := m.get(3 * minPooled); cap(b) != 4*minPooled {
		t.Errorf("%d bytes are taken, want the %d that were given back", cap(b), 4*minPooled)
	}
}
