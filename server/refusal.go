package server

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bnctl/bnctl/internal/legible"
	"github.com/bnctl/bnctl/server/internal/batching"
	"github.com/bnctl/bnctl/server/internal/protocol"
)

// refusal returns the error that a client receives for a request that was not computed.
func refusal(err error) error {
	var r *protocol.Refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &r):
		return err
	case errors.Is(err, batching.Full):
		return protocol.Refuse(protocol.Busy, "too many requests wait; try again")
	case errors.Is(err, context.DeadlineExceeded):
		return protocol.Refuse(protocol.DeadlineExceeded, "the time that the request has is over")
	case errors.Is(err, context.Canceled):
		return protocol.Refuse(protocol.Canceled, "the client gave up")
	}
	return protocol.Refuse(protocol.Unavailable, "the devices do not answer; try again")
}

// invalid returns the error for an invalid request.
func invalid(format string, args ...any) error {
	return protocol.Refuse(protocol.Invalid, format, args...)
}

// codeOf maps kinds of refusals to gRPC codes.
var codeOf = map[protocol.Kind]codes.Code{
	protocol.Invalid: codes.InvalidArgument, protocol.Unauthorised: codes.Unauthenticated,
	protocol.Forbidden: codes.PermissionDenied, protocol.NotFound: codes.NotFound,
	protocol.TooLarge: codes.ResourceExhausted, protocol.Busy: codes.ResourceExhausted,
	protocol.Canceled: codes.Canceled, protocol.Internal: codes.Internal,
	protocol.Unimplemented: codes.Unimplemented, protocol.Unavailable: codes.Unavailable,
	protocol.DeadlineExceeded: codes.DeadlineExceeded,
}

// asStatus converts an error to a gRPC status.
func asStatus(err error) error {
	var r *protocol.Refusal
	if errors.As(err, &r) {
		return status.Error(codeOf[r.Kind], legible.Short(r.Text))
	}
	return err // err is a status already
}

// unavailable returns the error for a request that the client may repeat, here or at another server.
func unavailable(text string) error { return protocol.Refuse(protocol.Unavailable, "%s", text) }
