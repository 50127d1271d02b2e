package remote

import (
	"time"

	"github.com/bnctl/bnctl/device"
)

// A device is lost in one of three ways, and the error says which: its process has died (how it
// ended, and its last words), it did not answer in time, or it broke the protocol. In the last two
// cases the process is killed at once: what it still sends can no longer be trusted to belong to the
// call that waits for it.

// dead reports whether the process has ended.
func (p *peer) dead() bool {
	select {
	case <-p.process.exited:
		return true
	default:
		return false
	}
}

// broken explains an error of the connection, which as such says little: if
// the process died, how, and its last words; else it broke the protocol, and
// is killed.
func (p *peer) broken(name, call string, err error) error {
	if p.command.Greeting != "" {
		p.process.kill()
		return device.Errorf(name, call, device.Lost, "the plugin, which bnctl did not start, is gone: %w", err)
	}
	if p.process.within(time.Second) {
		return device.Errorf(name, call, device.Lost, "the plugin process died: %s", p.process.howItEnded())
	}
	p.process.kill()
	return device.Errorf(name, call, device.Lost, "the plugin broke the protocol and was ended: %w", err)
}

// silent explains that a call is not answered, neither with a result nor, after Cancel, with an
// error. A device that hangs in a driver does so.
func (p *peer) silent(name, call string) error {
	p.process.kill()
	return device.Errorf(name, call, device.Lost,
		"the plugin did not answer within %v after the call was cancelled, and was ended", grace)
}
