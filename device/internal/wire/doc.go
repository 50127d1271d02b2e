// Package wire is what both sides of the border between bnctl and a device
// plugin have in common: how programs, errors and tensors are written as
// messages, and how messages move over a gRPC stream or through shared memory.
//
// Bytes that come in are foreign: every length is checked before anything is
// allocated, and a program is checked before it is used.
package wire

import "time"

// The levels of a session, and limits.
const (
	// ChunkBytes bounds the tensor bytes of one gRPC message.
	ChunkBytes = 1 << 20
	// MaxTensors bounds the tensors of one message.
	MaxTensors = 1 << 16
	// AliveEvery is how often the two sides of a connection between machines ask whether the other
	// one is there, if they hear nothing, and AliveWithin how long they wait for the answer.
	AliveEvery  = 10 * time.Second
	AliveWithin = 10 * time.Second
	// MaxBody bounds a message without its tensors: names, tags, headers.
	MaxBody = 1 << 22
	// Window is the initial window of gRPC streams and connections: the
	// default of 64 KiB stops the sender every few images.
	Window = 8 << 20
)

// Handshake: the environment variables of a plugin.
const (
	CookieKey   = "BNCTL_DEVICE_PLUGIN"
	CookieValue = "d5f3a1c07b9e4e27"
	Protocol    = 1
	Service     = "device"
	// OutputKey is set if the host reads the plugin's standard output after the greeting.
	// The SDK then does not redirect it.
	OutputKey = "BNCTL_PLUGIN_HEARD"
)
