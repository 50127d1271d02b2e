package collective

import (
	"context"

	"github.com/bnctl/bnctl/tensor"
)

// Lane separates the exchanges that a run waits for at once from those that it
// waits for only at its end, so that the latter can be under way while it goes
// on. The numbers are part of the protocol.
type Lane uint8

// The lanes.
const (
	// Moments is for results that later nodes of the function read.
	Moments Lane = 0
	// Gradients is for results that no node of the function reads.
	Gradients Lane = 1
	// Lanes is their number.
	Lanes = 2
)

// Tag names one exchange of a group. In each lane all members must come to the
// same tags in the same order: anything else is an error, never a hang.
type Tag struct {
	Generation uint64 // of the group
	Step       uint64 // counts the runs of the group
	Lane       Lane
	Sequence   uint64 // counts the exchanges of the lane in the run, from 0
	Name       string // of the first value that is reduced: "bn3.moments"
}

// Reduction is one value to be reduced in an exchange: this member's partial
// values of it and the tensor that takes the result.
type Reduction struct {
	Op       Op
	Partials []Partial     // Cover of the replicas that this member holds
	Result   tensor.Tensor // allocated by the caller; zeros if no replica has rows
}

// Exchanger brings the members of a group together. One exchange reduces
// several values at once.
//
// Start comes to an exchange. What it returns blocks until every member has
// come, or ctx ends, or the group is aborted, and must be called. Three things
// might happen:
//  1. All came: every Result holds the same bits on every member.
//  2. The group was aborted: the error wraps Aborted. Results are undefined.
//  3. The members disagree on the tag, on the number of values or on their
//     types: the error says how, on every member.
//
// Until then Partials and Results are the exchange's; partial values may be
// overwritten. Start itself may block too: what a member starts, it must start
// in the order of the program. Exchanges of a lane happen in the order in
// which they were started, those of two lanes concurrently. Exchangers are
// used by one goroutine at a time.
type Exchanger interface {
	Start(ctx context.Context, tag Tag, values []Reduction) (wait func() error)
}
