package parallel

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/bnctl/bnctl/device"
)

// joinsOf returns a channel that delivers devices to a driver, in the order of a queue.
func joinsOf(devices ...Member) <-chan Member {
	c := make(chan Member, len(devices))
	for i, m := range devices {
		m.Name = fmt.Sprint("new", i)
		c <- m
	}
	return c
}

// A device that joins before any run changes no bit, and is reported once.
func TestJoinsChangeNoBit(t *testing.T) {
	want, err := everything(t, refs(t, 1), Config{})
	if err != nil {
		t.Fatal(err)
	}
	for devices := 1; devices <= 5; devices++ {
		for joining := range 4 {
			var joined []RejoinedDevice
			got, err := everything(t, refs(t, devices), Config{
				Joins:  joinsOf(refs(t, joining)...),
				Reopen: func(context.Context, string) (device.Device, error) { return nil, Withdrawn },
				Back:   func(e RejoinedDevice) { joined = append(joined, e) },
			})
			if err != nil || got != want {
				t.Errorf("%d devices, %d join: other bits, %v", devices, joining, err)
			}
			if room := min(joining, 5-devices); len(joined) != room {
				t.Errorf("%d devices, %d join 5 replicas: %+v", devices, joining, joined)
			}
			for i, e := range joined {
				if e != (RejoinedDevice{Device: fmt.Sprint("new", i), Step: e.Step, New: true}) {
					t.Errorf("%+v", e)
				}
			}
		}
	}
}

// A device that joins takes the place of a device that has left for good, at whichever call the other
// device was lost, even if it was the last device.
func TestJoinsReplaceTheLost(t *testing.T) {
	want, err := everything(t, refs(t, 1), Config{})
	if err != nil {
		t.Fatal(err)
	}
	for devices := range 3 {
		lostAt(t, func(dying Member) error {
			joins := make(chan Member, 1)
			got, err := everything(t, append(refs(t, devices), dying), Config{
				Joins: joins,
				Lost: func(LostDevice) {
					m := refs(t, 1)[0]
					m.Name = "new"
					joins <- m
				},
				Reopen: func(context.Context, string) (device.Device, error) { return nil, Withdrawn },
			})
			if err == nil && got != want {
				err = fmt.Errorf("other bits")
			}
			if err != nil {
				err = fmt.Errorf("%d other devices: %w", devices, err)
			}
			return err
		})
	}
}

// While every replica has a device, devices that join or are opened again have to wait. A driver
// closes the devices that it took when it is closed.
func TestJoinsWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room := false
		r := newReopener(2, joinsOf(Member{Device: &closing{}}), func() bool { return room })
		back := &closing{}
		open := func(context.Context, string) (device.Device, error) { return back, nil }
		r.schedule(&member{steps: 1, order: 1}, open)
		synctest.Wait()
		if r.hasPending() {
			t.Error("a device comes without room")
		}
		room = true
		orders := map[int]bool{}
		for range 2 {
			m, err := r.next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			orders[m.order] = true
		}
		if !orders[1] || !orders[2] || r.hasPending() {
			t.Errorf("orders %v", orders)
		}
		if err := r.close(); err != nil {
			t.Error(err)
		}
	})
}
