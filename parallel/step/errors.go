package step

import (
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/problem"
)

// NoDevices is wrapped by the errors of a call when the last device was lost and no device came back in
// time.
var NoDevices = errors.New("no device is left")

// FleetClosed is wrapped by the errors of a call when lost devices will not be opened any more.
var FleetClosed = errors.New("the fleet is closed")

// RankError is the reason why a run ends on all ranks.
type RankError struct {
	Rank   int
	Text   string // reason of the error
	Advice string // the remedy; "" if Text is enough
}

func (e *RankError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the *problem.Error.
func (e *RankError) Unwrap() error {
	return problem.Failure("", fmt.Sprintf("rank %d: %s", e.Rank, e.Text), e.Advice)
}
