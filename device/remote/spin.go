package remote

import (
	"sync"

	"github.com/bnctl/bnctl/device/fabric/launcher"
	"github.com/bnctl/bnctl/device/internal/shm"
)

// crew is the sessions of this process and the threads that their devices
// compute with. A device that waits may spin only while every one of those
// threads has a core of its own, this process only while there is one more.
var crew = struct {
	mu       sync.Mutex
	sessions map[*session]int
}{sessions: map[*session]int{}}

// threads says how many threads the device of s computes with; 0 takes it out.
func (s *session) threads(n int) {
	crew.mu.Lock()
	defer crew.mu.Unlock()
	delete(crew.sessions, s)
	if n > 0 {
		crew.sessions[s] = n
	}
	for m := range crew.sessions {
		if m.host != nil {
			m.host.Attend(attention(crewThreads()))
		}
	}
}

// attention returns how awake the host is and how awake a device while it waits.
// A device that waits for other ranks leaves its core to those who bring what it
// waits for.
func attention(threads int) (host, device shm.Attention) {
	switch n := launcher.Cores(); {
	case threads < n:
		return shm.Spins, shm.Spins
	case threads == n && launcher.Several():
		return shm.Naps, shm.Naps
	case threads == n:
		return shm.Naps, shm.Spins
	}
	return shm.Sleeps, shm.Sleeps
}

// crewThreads counts the threads of all devices; the crew is locked.
func crewThreads() (total int) {
	for _, t := range crew.sessions {
		total += t
	}
	return total
}

// threadsOfAll counts the threads of all devices.
func threadsOfAll() int {
	crew.mu.Lock()
	defer crew.mu.Unlock()
	return crewThreads()
}
