package shm

import (
	"fmt"
	"os"
	"sync"
)

// Group is the host's side of the segment that connects the devices of one group. The host
// is not a member of the exchanges. It only watches their progress, and can abort them.
type Group struct {
	file  *os.File
	lanes []laneMemory
	head  *groupHead

	mu      sync.Mutex
	segment []byte // nil when closed
}

// NewGroup creates the segment of a group. spin reports whether its members may spin before
// they sleep.
func NewGroup(generation uint64, ranks int, spin bool) (*Group, error) {
	n := groupBytes(ranks)
	f, err := New(n)
	if err != nil {
		return nil, err
	}
	m := &Group{file: f}
	err = Reserve(f, n)
	if err == nil {
		m.segment, err = Map(f, n)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	head, lanes := layout(m.segment, ranks)
	head.magic, head.generation, head.ranks = groupMagic, generation, uint64(ranks)
	if spin {
		head.spin.Store(1)
	}
	m.head, m.lanes = head, lanes[:]
	return m, nil
}

// Path returns the path of the segment for children of this process. It is valid until Seal.
func (m *Group) Path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), m.file.Fd()) }

// Seal closes the file of the segment: members can no longer join.
func (m *Group) Seal() { m.file.Close() }

// use calls f while the segment is mapped.
func (m *Group) use(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.segment != nil {
		f()
	}
}

// Abort ends the group. Members that wait in an exchange, or start one later, get an
// error that wraps collective.Aborted.
func (m *Group) Abort() {
	m.use(func() {
		m.head.aborted.Store(1)
		for i := range m.lanes {
			m.lanes[i].bell.ring()
		}
	})
}

// Missing returns the ranks that others wait for at a barrier, in the first lane with a
// waiting rank. It returns nil if no rank waits.
func (m *Group) Missing() (missing []int) {
	m.use(func() {
		for i := range m.lanes {
			if missing = m.lanes[i].missing(); missing != nil {
				return
			}
		}
	})
	return missing
}

func (l *laneMemory) missing() (ranks []int) {
	most := uint64(0)
	came := make([]uint64, len(l.arrived))
	for rank, a := range l.arrived {
		came[rank] = a.Load()
		most = max(most, came[rank])
	}
	for rank, n := range came {
		if n < most {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// Arrivals returns the number of times that members have reached a barrier. It grows as long as the
// group makes progress.
func (m *Group) Arrivals() (n int) {
	m.use(func() {
		for i := range m.lanes {
			for _, a := range m.lanes[i].arrived {
				n += int(a.Load())
			}
		}
	})
	return n
}

// Close unmaps the segment. Members keep their mappings. Closing twice is legal.
func (m *Group) Close() error {
	m.file.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.segment == nil {
		return nil
	}
	b := m.segment
	m.segment = nil
	return Unmap(b)
}
