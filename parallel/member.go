package parallel

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/bnctl/bnctl/device"
)

// An executable counts versions from 0 when it is loaded; the driver counts from Open.
// base is the difference, so that a device that joined later answers to the same version:
//
//	driver       0   1   2   3   4   5
//	first        0   1   2   3   4   5      base 0
//	rejoined                 0   1   2      base 3

// member is a device with the program loaded on it.
type member struct {
	// The group's:
	Member
	order    int // among the devices of Open
	stage    int // DeviceTime.Stage
	exe      device.Executable
	capacity device.Capacity
	replicas []int
	hung     atomic.Bool           // the host gave it up
	silent   atomic.Pointer[error] // why it was given up
	pause    time.Duration         // before it was opened the last time
	again    time.Duration         // before it is opened once more, for it was lost before

	// The stepper's:
	base     device.Version // of the stepper when the program was loaded
	verified device.Version // last version whose state was verified
	steps    int            // finished since it was opened
	pace     pace
	written  device.Version // of the driver, which broadcast brought
	updates  device.Version // of replicas that a LocalSGD made on it: the version of the executable
}

// commit commits at the driver's version v.
func (m *member) commit(ctx context.Context, v device.Version, h device.Hyper) error {
	return m.exe.Commit(ctx, v-m.base, h)
}

// named puts the member's name before err, unless the device did so itself.
func (m *member) named(err error) error {
	var e *device.Error
	if errors.As(err, &e) && e.Device == m.Name {
		return err
	}
	return fmt.Errorf("%s: %w", m.Name, err)
}

// giveUp declares a device lost that does not answer, and why.
func (m *member) giveUp(why error) {
	m.silent.Store(&why)
	m.hung.Store(true)
	_ = m.Device.Close() // ends the call that hangs
}

// exact reports whether the updates of a member have the bits that all others' have.
func (m *member) exact() bool { return m.Device.Info().Has(device.ExactUpdates) }
