// Package remote is the host's side of the border: it finds, verifies, starts,
// watches and talks to device plugins.
//
// Use it to start one plugin by hand; package fleet does it for runs, from the
// names that people use.
//
//	p, err := remote.Start(ctx, remote.Command{Name: "cuda", Path: path})
//	defer p.Close()
//	d, err := p.Open(ctx, "0", device.Options{})
//
// A Plugin is a device.Provider, and what it opens are ordinary devices; each
// lives in a process of its own, which ends with it. Whatever happens to that
// process, the host sees an error: of kind device.Lost, with the device's name
// and the last words of the process, soon after it died.
//
// Nothing outlives the host. A plugin's standard input ends with it, the
// kernel kills what does not notice, sockets are unlinked as soon as both
// sides hold them, and shared memory never has a name.
package remote
