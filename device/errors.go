package device

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/graph"
)

// Kind classifies an error. It is an error itself, so that
// errors.Is(err, device.OutOfMemory) holds in the host and in a plugin. The
// numbers are part of the protocol: new kinds go at the end.
type Kind uint8

// The kinds of errors.
const (
	Other       Kind = 0 // any other error
	Invalid     Kind = 1 // the caller's mistake: wrong program, input, version
	Unsupported Kind = 2 // a legal request that this device cannot carry out
	OutOfMemory Kind = 3
	Lost        Kind = 4 // the device died, hangs or broke the protocol
	Canceled    Kind = 5 // the context ended
	Aborted     Kind = 6 // the group ended while the device was in a run
	Unavailable Kind = 7 // the device cannot be opened now: no driver, busy, not permitted
	NonFinite   Kind = 8 // a commit would make the state infinite or NaN
)

var kindNames = [...]string{"error", "invalid", "unsupported", "out of memory", "lost", "canceled", "aborted",
	"unavailable", "not finite"}

// Error returns the name of the kind: "out of memory".
func (k Kind) Error() string {
	if int(k) >= len(kindNames) {
		return fmt.Sprintf("error kind %d", uint8(k))
	}
	return kindNames[k]
}

// Error is an error of a device: the device, the call, the kind and the cause.
type Error struct {
	Device string // "cuda:1"
	Call   string // "Load", "Run train", ...
	Kind   Kind
	Err    error
}

// Error returns "cuda:1: Load: out of memory: want 512 MiB, have 98 MiB free".
func (e *Error) Error() string {
	var s strings.Builder
	for _, name := range []string{e.Device, e.Call} {
		if name != "" {
			s.WriteString(name + ": ")
		}
	}
	if e.Kind != Other {
		s.WriteString(e.Kind.Error() + ": ")
	}
	return s.String() + e.Err.Error()
}

// Unwrap makes both the kind and the cause visible to errors.Is and errors.As.
func (e *Error) Unwrap() []error { return []error{e.Kind, e.Err} }

// Errorf returns an *Error. The format may wrap a cause with %w.
func Errorf(device, call string, k Kind, format string, args ...any) error {
	return &Error{device, call, k, fmt.Errorf(format, args...)}
}

// KindOf returns the kind of err, or Other.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	var k Kind
	if errors.As(err, &k) {
		return k
	}
	return Other
}

// Wrap returns err as an error of a call on a device and keeps its kind. The kind is
// Aborted if the group ended, and Canceled if the context ended. A nil err stays nil.
func Wrap(device, call string, err error) error {
	if err == nil {
		return nil
	}
	kind := KindOf(err)
	switch {
	case errors.Is(err, collective.Aborted):
		kind = Aborted
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		kind = Canceled
	}
	return Errorf(device, call, kind, "%w", err)
}

// Refusal is one node that a device cannot run, and the reason.
type Refusal struct {
	Function string // name of the function
	Node     string // name of the node's first result
	Op       graph.Op
	Why      string
}

// Refused is the error that lists every node of a program that a device cannot
// run.
type Refused struct{ Nodes []Refusal }

// Error names the first five nodes, and counts the others.
func (r *Refused) Error() string {
	const most = 5
	var s []string
	for i, n := range r.Nodes {
		if i == most {
			s = append(s, fmt.Sprintf("and %d more", len(r.Nodes)-most))
			break
		}
		s = append(s, fmt.Sprintf("%s in %s (%v: %s)", n.Node, n.Function, n.Op, n.Why))
	}
	return "cannot run " + strings.Join(s, ", ")
}
