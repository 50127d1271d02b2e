package remote

import (
	"sync"

	"github.com/bnctl/bnctl/device/fabric/launcher"
	"github.com/bnctl/bnctl/device/internal/shm"
)

// deviceThreads is the sessions of this process and the threads that their devices
// compute with. A device that waits may spin only while every one of those
// threads has a core of its own, this process only while there is one more.
var deviceThreads = struct {
	mu       sync.Mutex
	sessions map[*session]int
}{sessions: map[*session]int{}}

// threads says how many threads the device of s computes with; 0 takes it out. All sessions get new
// policies then: one more device can mean that none of them may spin any longer.
func (s *session) threads(n int) {
	deviceThreads.mu.Lock()
	defer deviceThreads.mu.Unlock()
	delete(deviceThreads.sessions, s)
	if n > 0 {
		deviceThreads.sessions[s] = n
	}
	for m := range deviceThreads.sessions {
		if m.host != nil {
			m.host.SetWaitPolicy(waitPolicies(threadsLocked()))
		}
	}
}

// waitPolicies returns how awake the host is and how awake a device while it waits.
// A device that waits for other ranks leaves its core to the processes that bring what
// it waits for.
//
//	threads of all devices      host          device, alone     device, among ranks
//	fewer than cores            spins         spins             spins
//	as many                     naps          spins             naps
//	more                        sleeps        sleeps            sleeps
func waitPolicies(threads int) (host, device shm.WaitPolicy) {
	switch n := launcher.Cores(); {
	case threads < n:
		return shm.WaitSpin, shm.WaitSpin
	case threads == n && launcher.Several():
		return shm.WaitNap, shm.WaitNap
	case threads == n:
		return shm.WaitNap, shm.WaitSpin
	}
	return shm.WaitSleep, shm.WaitSleep
}

// threadsLocked counts the threads of all devices; deviceThreads is locked.
func threadsLocked() (total int) {
	for _, t := range deviceThreads.sessions {
		total += t
	}
	return total
}

// threadsOfAll counts the threads of all devices.
func threadsOfAll() int {
	deviceThreads.mu.Lock()
	defer deviceThreads.mu.Unlock()
	return threadsLocked()
}
