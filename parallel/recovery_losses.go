package parallel

import (
	"errors"
	"fmt"

	"github.com/bnctl/bnctl/device"
)

// Without a limit, a device that dies in every replay would be opened again forever. So losses are
// counted until the run makes progress: until the version of the run or of the ledger changes.

// maxLastLosses is the maximum number of devices that may be lost as the last of the run, one after
// the other without progress of the run.
const maxLastLosses = 10

// maxStarved is the maximum number of devices that may be lost, each as the last one, at the same
// step for lack of memory: the next device would need the same memory. Other processes may free
// memory, so each device is opened after a quarter of Config.Timeout.
const maxStarved = 3

// lossCount counts the losses of last devices (each was the only one left) since the last progress of
// the run: a step, a part of an evaluation, or a part of a replay.
type lossCount struct {
	reached device.Version // progress of the stepper when a last device was lost
	count   int            // number of losses without progress
}

// add counts a loss. reached is the progress of the stepper.
func (c *lossCount) add(reached device.Version) {
	if reached != c.reached {
		*c = lossCount{reached: reached}
	}
	c.count++
}

func (c *lossCount) tooMany() bool { return c.count > maxLastLosses }

// countLastLoss counts the loss of a last device. From the second loss on, replays renew
// the snapshot as they run, so that even a device that always dies during a replay, or soon
// after it, makes progress.
func (r *recovery) countLastLoss(cause error) error {
	if starved(cause) {
		if r.starved.add(r.stepper.Version()); r.starved.count >= maxStarved {
			return fmt.Errorf("%w: %d devices were lost one after the other for want of memory, at step %d: %w",
				NoDevices, r.starved.count, r.stepper.Version(), cause)
		}
	}
	if r.losses.add(r.reached()); r.losses.count > 1 {
		r.ledger.RenewOften()
	}
	if r.losses.tooMany() {
		return fmt.Errorf("%w: %d devices were lost one after the other and none has come beyond step %d: %w",
			NoDevices, r.losses.count, r.stepper.Version(), cause)
	}
	return nil
}

// starved reports whether a device was lost for lack of memory: it reported that, or the
// system killed it.
func starved(err error) bool { return errors.Is(err, device.OutOfMemory) }

// progressed records progress of the run other than a step.
func (r *recovery) progressed() { r.losses.count = 0 }
