// Package remote is the host's side of the plugin protocol: it finds, verifies,
// starts, watches and talks to device plugins. The host is the program that
// uses the devices.
//
// Use it to start a single plugin; package fleet opens the devices of a run by
// their names.
//
//	p, err := remote.Start(ctx, remote.Command{Name: "cuda", Path: path})
//	defer p.Close()
//	d, err := p.Open(ctx, "0", device.Options{})
//
// A Plugin is a device.Provider. Each device that it opens has a process of its
// own, which ends when the device is closed. If that process dies, the host
// soon gets an error of kind device.Lost, with the device's name and the last
// lines that the process wrote to standard error.
//
// Nothing outlives the host. When it dies, the plugin's standard input ends,
// and on Linux the kernel kills the plugin; sockets are unlinked as soon as
// both sides are connected, and shared memory never has a name.
package remote
