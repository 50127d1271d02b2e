package parallel

import (
	"errors"

	"github.com/bnctl/bnctl/parallel/step"
)

// Errors that package pipeline handles, too.
var (
	// NoDevices is wrapped by the errors of a driver's calls when the last device was lost and no device
	// came back in time.
	NoDevices = step.NoDevices
	// FleetClosed is wrapped by the error of Config.Reopen when devices will not be opened any more. A run
	// without devices then ends at once.
	FleetClosed = step.FleetClosed
)

// Withdrawn is wrapped by the error of Config.Reopen when a device will not be opened any
// more, but others may be: its machine has left for good.
var Withdrawn = errors.New("the device has left")

// RankError is the reason why a run ends on all ranks.
type RankError = step.RankError

// OneKind is the remedy when the ranks have devices with different abilities.
const OneKind = "use devices of one kind on all ranks"

// emptyRank is the error of a rank that has lost its last device. It may get another
// device, and the other ranks then send it the state.
type emptyRank struct{ error }

func (e *emptyRank) Unwrap() error { return e.error }

func isEmptyRank(err error) bool {
	var e *emptyRank
	return errors.As(err, &e)
}
