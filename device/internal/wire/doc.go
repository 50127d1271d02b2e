// Package wire has code that bnctl and device plugins share: the encoding of programs, errors and tensors
// as messages, and the transfer of messages over a gRPC stream or through shared memory.
//
// Received bytes are not trusted: every length is checked before memory is allocated, and a program is
// checked before it is used.
package wire

import "time"

// The levels (transports) of a session, and limits.
const (
	// ChunkBytes bounds the tensor bytes of one gRPC message.
	ChunkBytes = 1 << 20
	// MaxTensors bounds the tensors of one message.
	MaxTensors = 1 << 16
	// If a connection between machines has no messages for the time AliveEvery, each side checks
	// whether the other side is alive. AliveWithin is the time limit for the answer.
	AliveEvery  = 10 * time.Second
	AliveWithin = 10 * time.Second
	// MaxBody bounds a message without its tensors: names, tags, headers.
	MaxBody = 1 << 22
	// Window is the initial window of gRPC streams and connections. With the
	// default of 64 KiB the sender would have to wait after every few images.
	Window = 8 << 20
)

// The handshake of plugins: its environment variables and versions.
const (
	CookieKey   = "BNCTL_DEVICE_PLUGIN"
	CookieValue = "d5f3a1c07b9e4e27"
	Protocol    = 1
	Service     = "device"
	// OutputKey is set if the host reads the plugin's standard output after the greeting.
	// The SDK then does not redirect it.
	OutputKey = "BNCTL_PLUGIN_HEARD"
)
