package serve

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
)

// The devices of one run on this machine add their values in a meeting, along the tree. The first device
// exchanges the sums with the host:
//
//	device 0  device 1  device 2      sessions of one host
//	     \        |        /
//	      meeting (a collective.Hub)
//	               |
//	      session of device 0 ──────> host: one value for each node of the tree
//
// The meeting ends if a session ends, or if a run with exchanges fails. The host then makes a new group.

// meetings has the current meetings of a machine, by run and generation.
type meetings struct {
	mu     sync.Mutex
	byName map[string]*meeting
}

// meeting is the devices of one group on this machine.
type meeting struct {
	registry *meetings
	key      string
	hub      *collective.Hub
	group    device.Group // group of the first member
	uplink   *hostUplink
	sessions int
}

// hostUplink exchanges with the host through the session of a device.
type hostUplink struct {
	nodes []collective.Node
	mu    sync.Mutex
	first collective.Exchanger // exchanger of the first device; nil before it has joined
}

// join makes a device a member of the meeting of its group. x exchanges with the host.
func (m *meetings) join(g device.Group, x collective.Exchanger) (*meeting, collective.Exchanger, error) {
	if err := g.Check(); err != nil {
		return nil, nil, err
	}
	if len(g.Machine) < 2 {
		return nil, nil, fmt.Errorf("ranks %v of a machine, want two or more", g.Machine)
	}
	first := g
	first.Rank = g.Machine[0]
	key := fmt.Sprintf("%x/%d", g.Rendezvous, g.Generation)
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.byName[key]
	if t == nil {
		u := &hostUplink{nodes: collective.Cover(g.Leaves(), first.Exchanged())}
		t = &meeting{registry: m, key: key, group: g, uplink: u,
			hub: collective.NewHubBelow(u, g.Leaves(), len(g.Machine))}
		if len(first.Exchanged()) == g.Leaves() { // the sums are complete without the host
			t.hub = collective.NewHub(g.Leaves(), len(g.Machine))
		}
		if m.byName == nil {
			m.byName = map[string]*meeting{}
		}
		m.byName[key] = t
	}
	if !slices.Equal(t.group.Machine, g.Machine) || t.group.Tree != g.Tree ||
		!slices.EqualFunc(t.group.Replicas, g.Replicas, slices.Equal[[]int]) {
		return nil, nil, fmt.Errorf("rank %d describes another group than the other devices of the machine", g.Rank)
	}
	if g.Rank == g.Machine[0] {
		t.uplink.set(x)
	}
	t.sessions++
	return t, t.hub.Member(slices.Index(g.Machine, g.Rank)), nil
}

// leave ends a meeting for all members. It does nothing for a nil meeting.
func (t *meeting) leave() {
	if t == nil {
		return
	}
	t.abort(fmt.Errorf("a device of the machine has left"))
	t.registry.mu.Lock()
	defer t.registry.mu.Unlock()
	if t.sessions--; t.sessions == 0 {
		delete(t.registry.byName, t.key)
	}
}

// abort ends the exchanges of all members.
func (t *meeting) abort(why error) {
	if t != nil {
		t.hub.Abort(why)
	}
}

// Nodes implements collective.Uplink.
func (u *hostUplink) Nodes() []collective.Node { return u.nodes }

// Complete implements collective.Uplink.
func (u *hostUplink) Complete(ctx context.Context, tag collective.Tag,
	values []collective.Reduction) error {
	return u.Start(ctx, tag, values)()
}

// Start implements collective.Starter. It is called when all devices have arrived, so the first
// device has joined.
func (u *hostUplink) Start(ctx context.Context, tag collective.Tag,
	values []collective.Reduction) func() error {
	u.mu.Lock()
	x := u.first
	u.mu.Unlock()
	if x == nil {
		return func() error { return fmt.Errorf("%w: the first device has not joined", collective.Aborted) }
	}
	return x.Start(ctx, tag, values)
}

func (u *hostUplink) set(x collective.Exchanger) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.first = x
}

var _ collective.Starter = (*hostUplink)(nil)
