package wire

import (
	"context"
	"errors"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/problem"
)

// EncodeError encodes err; nil becomes nil.
func EncodeError(err error) *pb.Error {
	if err == nil {
		return nil
	}
	out, cause := &pb.Error{Kind: pb.Kind(KindOf(err))}, err
	if e, ok := err.(*device.Error); ok {
		out.Device, out.Call, cause = e.Device, e.Call, e.Err
	}
	out.Message, out.Advice = problem.Split(cause)
	var r *device.Refused
	if errors.As(err, &r) {
		for _, n := range r.Nodes {
			out.Refusals = append(out.Refusals,
				&pb.Refusal{Function: n.Function, Node: n.Node, Op: pb.Op(n.Op), Why: n.Why})
		}
	}
	return out
}

// KindOf does the same as device.KindOf for errors that have not passed a device yet. It also returns a
// kind for the end of a context and the end of a group.
func KindOf(err error) device.Kind {
	if errors.Is(err, collective.Aborted) { // first, because err may also wrap the error of another member
		return device.Aborted
	}
	switch k := device.KindOf(err); {
	case k != device.Other:
		return k
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return device.Canceled
	}
	return device.Other
}

// DecodeError decodes the error of a call on the named device; nil becomes nil. It ignores the device's
// name in the message.
func DecodeError(name, call string, in *pb.Error) error {
	if in == nil {
		return nil
	}
	kind := device.Kind(in.Kind)
	if in.Kind < 0 || in.Kind > pb.Kind(device.NonFinite) {
		kind = device.Other // the other side has a newer version with more kinds
	}
	if in.Call != "" {
		call = in.Call
	}
	return &device.Error{Device: name, Call: call, Kind: kind, Err: advised(in, cause(in, kind))}
}

// advised returns the cause with the advice of the other side.
func advised(in *pb.Error, cause error) error {
	if in.Advice == "" {
		return cause
	}
	return problem.Advise(in.Advice, "%w", cause)
}

func cause(in *pb.Error, k device.Kind) error {
	if len(in.Refusals) > 0 {
		r := &device.Refused{}
		for _, n := range in.Refusals {
			r.Nodes = append(r.Nodes,
				device.Refusal{Function: n.Function, Node: n.Node, Op: graph.Op(uint16(n.Op)), Why: n.Why})
		}
		return r
	}
	switch k {
	case device.Aborted:
		return &remoteError{in.Message, collective.Aborted}
	case device.Canceled:
		return &remoteError{in.Message, context.Canceled}
	}
	return errors.New(in.Message)
}

// remoteError has the text of an error from the other side, and the errors that errors.Is finds in it.
type remoteError struct {
	message string
	is      error
}

func (e *remoteError) Error() string { return e.message }

func (e *remoteError) Unwrap() error { return e.is }
