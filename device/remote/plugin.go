package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/internal/awake"
)

// Plugin is a plugin that can be started. It is a device.Provider. Its methods
// may be called from any goroutine.
//
// A process opens only one device, so there is one process for each device. Start needs a process
// to describe the plugin, and List needs one to list the devices. This process is kept as the idle
// process, and becomes the process of the first device:
//
//	Start ──> idle ─── List ──> idle ─── Open ──> process of device 0
//	                                     Open ──> another ──> process of device 1
type Plugin struct {
	command Command
	binary  *binary
	info    device.Plugin

	mu     sync.Mutex
	idle   *peer // a process without a device; nil: the next is started when needed
	closed bool
}

// Start starts the plugin and returns when it has described itself. The error is of kind
// Unavailable and gives the reason: the executable is missing or differs from devices.lock,
// the process dies (with its last lines of standard error), does not greet in time, is not
// a plugin, or has another version of the protocol. The error is of kind Lost if the process
// was killed by a signal, because another attempt may succeed.
func Start(ctx context.Context, c Command) (*Plugin, error) {
	b, err := openBinary(&c)
	if err != nil {
		return nil, err
	}
	if c.TLS != nil {
		c.counter = &counter{}
	}
	p := &Plugin{command: c, binary: b}
	p.idle, err = connect(ctx, &p.command, b)
	if err != nil {
		b.close()
		return nil, err
	}
	p.info = p.idle.info
	return p, nil
}

// Describe returns the plugin's description of itself.
func (p *Plugin) Describe() device.Plugin { return p.info }

// List returns the devices that could be opened. With an empty list it returns
// the reason.
func (p *Plugin) List(ctx context.Context) ([]device.Info, string, error) {
	peer, err := p.take(ctx)
	if err != nil {
		return nil, "", err
	}
	defer p.put(peer)
	ctx, cancel := awake.WithTimeout(ctx, p.command.timeout())
	defer cancel()
	out, err := peer.rpc.List(ctx, &pb.ListRequest{})
	if err != nil {
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %v: %w", p.command.timeout(), err)
		}
		return nil, "", peer.broken("plugin "+p.command.Name, "List", err)
	}
	var list []device.Info
	for _, i := range out.GetDevices() {
		list = append(list, wire.DecodeInfo(i))
	}
	return list, out.GetReason(), wire.DecodeError("plugin "+p.command.Name, "List", out.GetError())
}

// Open opens a device in a new process. Errors use the name in the device's Info.
func (p *Plugin) Open(ctx context.Context, id string, o device.Options) (device.Device, error) {
	return p.OpenAs(ctx, "", id, o)
}

// OpenAs is like Open but with another name for errors and logs, to distinguish several devices with
// the same ID.
func (p *Plugin) OpenAs(ctx context.Context, name, id string, o device.Options) (device.Device, error) {
	peer, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	d, err := open(ctx, peer, name, id, o)
	if err != nil {
		peer.end()
		return nil, err
	}
	return d, nil
}

// Close ends the plugin's idle process. Opened devices have other processes and stay open.
func (p *Plugin) Close() error {
	p.mu.Lock()
	spare := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	if spare != nil {
		spare.end()
	}
	return p.binary.close()
}

// take returns a process without a device: the idle process if it is alive, or a new one.
func (p *Plugin) take(ctx context.Context) (*peer, error) {
	p.mu.Lock()
	spare := p.idle
	p.idle = nil
	closed := p.closed
	p.mu.Unlock()
	switch {
	case closed:
		return nil, p.command.fail("start", device.Invalid, "the plugin was closed")
	case spare == nil:
		return p.startPeer(ctx)
	case spare.dead():
		spare.end()
		return p.startPeer(ctx)
	}
	return spare, nil
}

// startPeer starts another process. The process must describe itself like the first one. The executable
// is the same file, but a script may read another file, and a library may have been replaced.
func (p *Plugin) startPeer(ctx context.Context) (*peer, error) {
	x, err := connect(ctx, &p.command, p.binary)
	if err == nil && x.info != p.info {
		x.end()
		return nil, p.command.fail("start", device.Unavailable, "it describes itself as %q, version %q: %q; "+
			"when it was first started, as %q, version %q: %q", x.info.Name, x.info.Version, x.info.About,
			p.info.Name, p.info.Version, p.info.About)
	}
	return x, err
}

// put keeps a process without a device for the next call that needs one.
func (p *Plugin) put(x *peer) {
	p.mu.Lock()
	if p.idle == nil && !p.closed {
		p.idle, x = x, nil
	}
	p.mu.Unlock()
	if x != nil {
		x.end()
	}
}

var _ device.Provider = (*Plugin)(nil)
