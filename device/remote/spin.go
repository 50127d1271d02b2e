package remote

import (
	"sync"

	"github.com/bnctl/bnctl/device/fabric/launcher"
	"github.com/bnctl/bnctl/device/internal/shm"
)

// deviceThreads has the sessions of this process, with the number of threads of each device.
// A waiting device may spin only if every thread of all devices has a separate core. This
// process may spin only if there is one more core.
var deviceThreads = struct {
	mu       sync.Mutex
	sessions map[*session]int
}{sessions: map[*session]int{}}

// threads sets the number of threads of the device of s; 0 removes the session. All
// sessions then get new policies: with one more device they may have to stop spinning.
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

// waitPolicies returns the wait policies of the host and of a device. A device that waits for other
// ranks frees its core for the processes that transfer the values.
//
//	threads of all devices      host          device, alone     device, among ranks
//	fewer than cores            spins         spins             spins
//	equal                       naps          spins             naps
//	more, or more than a        sleeps        sleeps            sleeps
//	cgroup allows
func waitPolicies(threads int) (host, device shm.WaitPolicy) {
	switch n := launcher.Cores(); {
	case launcher.Quota() < float64(threads): // a spinning thread would use up the time of computing threads
		return shm.WaitSleep, shm.WaitSleep
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
