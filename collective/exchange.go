package collective

import (
	"context"

	"github.com/bnctl/bnctl/tensor"
)

// Tag names one exchange of a group. All members must come to the same tags
// in the same order: anything else is an error, never a hang.
type Tag struct {
	Generation uint64 // of the group
	Step       uint64 // counts the runs of the group
	Sequence   uint64 // counts the exchanges of the run, from 0
	Name       string // of the first value that is reduced: "bn3.moments"
}

// Reduction is one value to be reduced in an exchange: this member's parts of
// it and the tensor that takes the result.
type Reduction struct {
	Op     Op
	Parts  []Part        // Cover of the replicas that this member holds
	Result tensor.Tensor // allocated by the caller; zeros if no replica has rows
}

// Exchanger brings the members of a group together. One exchange reduces
// several values at once.
//
// AllReduce blocks until every member has come, or ctx ends, or the group is
// aborted. Three things might happen:
//  1. All came: every Result holds the same bits on every member.
//  2. The group was aborted: the error wraps Aborted. Results are undefined.
//  3. The members disagree on the tag, on the number of values or on their
//     types: the error says how, on every member.
//
// Parts may be overwritten. Exchangers are used by one goroutine at a time.
type Exchanger interface {
	AllReduce(ctx context.Context, tag Tag, values []Reduction) error
}
