package remote

import (
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/fabric/launcher"
	"github.com/bnctl/bnctl/device/internal/shm"
)

// Rendezvous creates the shared memory through which devices of plugins exchange
// values at level coll.shm/1. It implements device.Rendezvous.
//
// The host creates the memory but is not a member of the group. It sees how many members have arrived
// at an exchange, and can abort the group. Join passes the path of the memory to the devices. When all
// devices have opened it, Joined seals it, and other processes cannot open it any more.
//
//	device 0 ──┐                          ┌── device 1
//	           ├── memory of the group ───┤
//	device 2 ──┘          ^               └── device 3
//	                      └ host: Exchanges, Abort
type Rendezvous struct{}

// Meet creates the memory for one group of devices.
func (Rendezvous) Meet(level string, generation uint64, members int) (device.GroupMemory, error) {
	if level != device.CollShm {
		return nil, device.Errorf("", "Meet", device.Unavailable, "level %s is not one of groups", level)
	}
	m, err := shm.NewGroup(generation, members, threadsOfAll() <= launcher.Cores())
	if err != nil {
		return nil, device.Errorf("", "Meet", device.Unavailable, "%w", err)
	}
	return groupMemory{m}, nil
}

// groupMemory implements device.GroupMemory for the host.
type groupMemory struct{ *shm.Group }

// Rendezvous implements device.GroupMemory. It returns the path of the memory.
func (m groupMemory) Rendezvous() []byte { return []byte(m.Path()) }

// Joined implements device.GroupMemory. From now on other processes cannot open the memory.
func (m groupMemory) Joined() { m.Seal() }

// Exchanges implements device.GroupMemory.
func (m groupMemory) Exchanges() int { return m.Arrivals() }

// Abort implements device.GroupMemory. The members do not learn the cause.
func (m groupMemory) Abort(error) { m.Group.Abort() }
