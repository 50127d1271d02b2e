package remote

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/problem"
)

// GreetingOf returns the greeting of a machine that serves devices at an address, HOST:PORT. It has the
// form for a process that is already running.
func GreetingOf(address string) string { return fmt.Sprintf("1|1|tcp|%s|grpc|", address) }

// explainMachine describes why a machine could not be connected to.
func explainMachine(c *Command, timedOut bool, err error) error {
	text := plain(err).Error()
	switch {
	case timedOut:
		return c.fail("connect", device.Unavailable, "the machine does not answer within %v: %w", c.timeout(),
			plain(err))
	case slices.ContainsFunc(damages, func(alert string) bool { return strings.Contains(text, alert) }):
		return c.fail("connect", device.Unavailable, "%w", &connectionProblem{problem.Advise(
			"try again, and see what lies between the machines",
			"what was sent there was changed on its way (%s)", tlsReason(text)), err})
	case strings.Contains(text, "remote error: tls:"):
		return c.fail("connect", device.Unavailable, "%w", &connectionProblem{problem.Advise(
			"see the log of the machine for the reason",
			"the machine refuses the certificate of this host (%s)", tlsReason(text)), err})
	case strings.Contains(text, "authentication handshake failed"):
		return c.fail("connect", device.Unavailable, "the machine is not trusted: %w",
			&connectionProblem{errors.New(tlsReason(text)), err})
	}
	return c.fail("connect", device.Unavailable, "%w", &connectionProblem{problem.Advise(
		"start {devices-serve} there", "nothing answers there: %s", tlsReason(text)), err})
}

// damages are the TLS alerts for messages that were changed on the way.
var damages = []string{"remote error: tls: bad record MAC", "remote error: tls: unexpected message",
	"remote error: tls: record overflow", "remote error: tls: error decoding message"}

// connectionProblem is an error of a connection with a text for users.
type connectionProblem struct {
	error
	cause error
}

// Unwrap implements the interface of package errors.
func (e *connectionProblem) Unwrap() []error { return []error{e.error, e.cause} }

// tlsReason returns the reason at the end of an error text of gRPC. The text has the name of every step
// before the reason.
func tlsReason(text string) string {
	for _, mark := range []string{"authentication handshake failed: ", "remote error: ", "transport: "} {
		if _, after, ok := strings.Cut(text, mark); ok {
			text = after
		}
	}
	return strings.TrimRight(strings.ReplaceAll(text, `\"`, `"`), "\")")
}
