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
// base is the difference, so that a device that joined later has the same version:
//
//	driver       0   1   2   3   4   5
//	first        0   1   2   3   4   5      base 0
//	rejoined                 0   1   2      base 3

// member is a device with the program loaded on it.
type member struct {
	// These fields belong to the group:
	Member
	order    int // position among the devices given to Open
	stage    int // DeviceTime.Stage
	exe      device.Executable
	capacity device.Capacity
	replicas []int
	hung     atomic.Bool           // the host has given the device up
	silent   atomic.Pointer[error] // reason why the host has given the device up
	pause    time.Duration         // pause before the device was last opened
	again    time.Duration         // pause before the device is opened again after the next loss
	isNew    bool                  // the device was not there at Open, and is not a member yet

	// These fields belong to the stepper:
	base     device.Version // version of the stepper when the program was loaded
	verified device.Version // last version with a verified state
	steps    int            // steps since the device was opened
	pace     pace
	written  device.Version // driver's version of the state that a broadcast has written
	updates  device.Version // commits by a LocalSGD, which are the version of the executable
}

// commit commits at the driver's version v.
func (m *member) commit(ctx context.Context, v device.Version, h device.Hyper) error {
	return m.exe.Commit(ctx, v-m.base, h)
}

// named prefixes err with the member's name, unless the device has already done so.
func (m *member) named(err error) error {
	var e *device.Error
	if errors.As(err, &e) && e.Device == m.Name {
		return err
	}
	return fmt.Errorf("%s: %w", m.Name, err)
}

// giveUp declares an unresponsive device lost, for the given reason.
func (m *member) giveUp(why error) {
	m.silent.Store(&why)
	m.hung.Store(true)
	_ = m.Device.Close() // this ends the call that hangs
}

// exact reports whether the updates of a member have the same bits as on all exact devices.
func (m *member) exact() bool { return m.Device.Info().Has(device.ExactUpdates) }
