package remote

import (
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/problem"
)

// A device is lost in one of three ways, and the error names it: its process has died (with
// its exit status and last words), it did not answer in time, or it broke the protocol. In
// the last two cases the process is killed at once: its later messages cannot be matched to
// a call any more.

// dead reports whether the process has ended.
func (p *peer) dead() bool {
	select {
	case <-p.process.exited:
		return true
	default:
		return false
	}
}

// broken explains an error of the connection. If the process has died, the result describes how it died,
// with its last lines of output. Otherwise the process broke the protocol, and broken kills it.
func (p *peer) broken(name, call string, err error) error {
	if p.command.TLS != nil {
		p.process.kill()
		return device.Errorf(name, call, device.Lost, "the connection to the machine broke: %w", plain(err))
	}
	if p.command.Greeting != "" {
		p.process.kill()
		return device.Errorf(name, call, device.Lost, "the plugin, which bnctl did not start, is gone: %w",
			plain(err))
	}
	if p.process.within(time.Second) && p.process.starved {
		return device.Errorf(name, call, device.Lost, "%w", starved(p.process.howItEnded()))
	}
	if p.process.within(0) {
		return device.Errorf(name, call, device.Lost, "the plugin process died: %s", p.process.howItEnded())
	}
	p.process.kill()
	return device.Errorf(name, call, device.Lost, "the plugin broke the protocol and was ended: %w", plain(err))
}

// starved returns the error for a process that the system has killed for lack of memory. The error also
// has the kind OutOfMemory, because another device with the same programs would end in the same way.
func starved(how string) error {
	return &device.Error{Kind: device.OutOfMemory, Err: problem.Advise(
		"use a smaller batch, or more devices with {stages} auto",
		"the system ended the plugin process for want of memory: %s", how)}
}

// silent returns the error for a device that answers neither a call nor Cancel. This happens if a
// device hangs in a driver.
func (p *peer) silent(name, call string) error {
	p.process.kill()
	if p.command.TLS != nil {
		return device.Errorf(name, call, device.Lost,
			"the machine did not answer within %v after the call was cancelled, and was given up", grace)
	}
	return device.Errorf(name, call, device.Lost,
		"the plugin did not answer within %v after the call was cancelled, and was ended", grace)
}
