package fleet

import (
	"sync"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/problem"
)

// Lend lends the devices to one run. The run must call giveBack when it does not need them any more; further
// calls do nothing. Lend returns a *problem.Error if the fleet is closed or lent to another run.
func (f *Fleet) Lend() (devices []parallel.Member, giveBack func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return nil, nil, f.closedError()
	case f.lent:
		return nil, nil, f.refuse("another run has the fleet", "close that run first, or open another fleet")
	}
	f.lent = true
	return f.Members, sync.OnceFunc(func() {
		f.mu.Lock()
		f.lent = false
		f.mu.Unlock()
		if f.visitors != nil {
			f.visitors.giveBack()
		}
	}), nil
}

// Err returns nil until the fleet is closed, and then a *problem.Error that wraps
// parallel.FleetClosed.
func (f *Fleet) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return f.closedError()
	}
	return nil
}

func (f *Fleet) closedError() error {
	return f.refuse("the fleet is closed", "open another").Because(parallel.FleetClosed)
}

func (f *Fleet) refuse(text, advice string) *problem.Error {
	return problem.New("devices", f.options.Devices, text, advice)
}

// Rendezvous returns the maker of shared memory for groups that exchange data without the host.
func (f *Fleet) Rendezvous() device.Rendezvous { return remote.Rendezvous{} }
