package collective

import (
	"context"

	"github.com/bnctl/bnctl/tensor"
)

// Lane is the kind of an exchange. A run waits for exchanges of lane Moments at once,
// and for exchanges of lane Gradients only at its end, so that the run can continue
// during the latter. The numbers are part of the protocol.
type Lane uint8

// The lanes.
const (
	// Moments is the lane of results that later nodes of the function read.
	Moments Lane = 0
	// Gradients is the lane of results that no node of the function reads.
	Gradients Lane = 1
	// Lanes is the number of lanes.
	Lanes = 2
)

// Tag names one exchange of a group. In each lane all members must start exchanges with
// the same tags in the same order. Otherwise the exchange returns an error; it never hangs.
type Tag struct {
	Generation uint64 // generation of the group
	Step       uint64 // counts the runs of the group
	Lane       Lane
	Sequence   uint64 // counts the exchanges of the lane in the run, from 0
	Name       string // name of the first value that is reduced: "bn3.moments"
}

// Reduction is one value to be reduced in an exchange: this member's partial values and the
// tensor for the result.
type Reduction struct {
	Op       Op
	Partials []Partial     // a value for each node of the Cover of this member's replicas
	Result   tensor.Tensor // allocated by the caller; zeros if no replica has rows
}

// Exchanger brings the members of a group together. One exchange reduces
// several values at once.
//
// Start begins an exchange. It returns a function that blocks until every member has
// arrived, or ctx ends, or the group is aborted. The caller must call it. There are three
// outcomes:
//  1. All arrived: every Result holds the same bits on every member.
//  2. The group was aborted: the error wraps Aborted. Results are undefined.
//  3. The members disagree on the tag, on the number of values or on their
//     types: every member gets an error that describes the difference.
//
// Until the function returns, the exchange owns Partials and Results; partial values may
// be overwritten. Start itself may block too: a member must start its exchanges
// in the order of the program. Exchanges of a lane happen in the order in
// which they were started; the two lanes are concurrent. An Exchanger must not be
// used by several goroutines at once.
type Exchanger interface {
	Start(ctx context.Context, tag Tag, values []Reduction) (wait func() error)
}
