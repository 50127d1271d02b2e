package parallel

import (
	"fmt"

	"github.com/bnctl/bnctl/device"
)

// A device that dies in every replay would be opened without end. What counts is progress: a
// loss counts while the same version, of the run or of the ledger, is as far as it came.

// maxLastLosses is how many devices, with none beside them, may be lost without
// getting any further.
const maxLastLosses = 10

// lossCount counts the losses of last devices since the run got on: by a step, a
// part of an evaluation, or a replay that brought it closer.
type lossCount struct {
	reached device.Version // of the stepper, when a last device was lost
	count   int            // since it has changed
}

// add counts a loss when the stepper has reached a number.
func (c *lossCount) add(reached device.Version) {
	if reached != c.reached {
		*c = lossCount{reached: reached}
	}
	c.count++
}

func (c *lossCount) tooMany() bool { return c.count > maxLastLosses }

// countLastLoss counts the loss of a last device. From the second on replays renew
// the snapshot on the way: a device that always dies soon after a replay, or in
// it, gets on all the same.
func (r *recovery) countLastLoss(cause error) error {
	if r.losses.add(r.reached()); r.losses.count > 1 {
		r.ledger.renewOften()
	}
	if r.losses.tooMany() {
		return fmt.Errorf("%w: %d devices were lost one after the other and none has come beyond step %d: %w",
			NoDevices, r.losses.count, r.stepper.Version(), cause)
	}
	return nil
}

// progressed notes that the run got on by something else than a step.
func (r *recovery) progressed() { r.losses.count = 0 }
