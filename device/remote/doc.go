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
// A Plugin is a device.Provider. Each device that it opens runs in a separate
// process, which ends when the device is closed. If that process dies, the host
// soon gets an error of kind device.Lost, with the device's name and the last
// lines that the process wrote to standard error.
//
// # From a path to a call
//
//	find.go, lock.go, guard.go     which executables there are, and which of them may be started
//	binary.go                      the executable is opened once, so that the checked file runs
//	process.go, greeting.go        the process: its pipes, its first line, its end
//	connect.go                     the handshake: process, socket, shared memory
//	open.go                        the device, and the level at which its session runs
//	session.go, exchange.go        calls, their answers, and the exchanges in the middle of a run
//	device.go, executable.go       device.Device and device.Executable, call by call
//	lost.go                        why a device is lost
//
// # Connections between the two processes
//
//	     host                                 plugin
//	┌────────────┐  Unix socket (gRPC)   ┌────────────┐
//	│  session   ├───────────────────────┤  serve     │   Describe, Open, Cancel, Close;
//	│            │                       │            │   at level stream/1 all calls too
//	│            │  memfd, two rings     │            │
//	│            ├───────────────────────┤            │   level shm/1: calls and tensors
//	│            │  pipe (the bell)      │            │
//	│            │<──────────────────────┤            │   one byte wakes a sleeping host
//	│  process   │  stdin, stdout, stderr│            │
//	└────────────┴───────────────────────┴────────────┘
//
// The rings carry the same messages as the stream would; the stream then carries only
// the end of the session. The choice between the two is made once, when the device is opened.
//
// # Fabrics
//
// A fabric plugin (JoinFabric) makes the process a rank of an MPI job. It is started, greeted and
// ended like a device plugin, and exchanges frames over the same two rings (fabric.go). Ranks of
// one machine bypass it and exchange messages through shared memory (IntraNode; link.go, meet.go).
//
// # Nothing outlives the host
//
// When the host dies, the plugin's standard input ends,
// and on Linux the kernel kills the plugin; sockets are unlinked as soon as
// both sides are connected, and shared memory never has a name.
package remote
