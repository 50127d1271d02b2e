package server

import (
	"context"
	"errors"

	"github.com/bnctl/bnctl/server/batching"
	"github.com/bnctl/bnctl/server/protocol"
)

// refusal is what a client hears of why its request was not computed.
func refusal(err error) error {
	var r *protocol.Refusal
	switch {
	case errors.As(err, &r):
		return err
	case errors.Is(err, batching.Full):
		return protocol.Refuse(protocol.Busy, "too many requests wait; try again")
	case errors.Is(err, batching.Closed):
		return protocol.Refuse(protocol.Unavailable, "the server, or this version of the model, is going away")
	case errors.Is(err, context.DeadlineExceeded):
		return protocol.Refuse(protocol.Late, "the time that the request has is over")
	case errors.Is(err, context.Canceled):
		return protocol.Refuse(protocol.Canceled, "the client gave up")
	}
	return protocol.Refuse(protocol.Unavailable, "the devices do not answer; try again")
}

// invalid refuses a request that is not what it should be.
func invalid(format string, args ...any) error {
	return protocol.Refuse(protocol.Invalid, format, args...)
}
