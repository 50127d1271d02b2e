package parallel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/parallel/spmd"
)

// A device that comes back and cannot get the program and the state is lost once more. From
// then on its errors are the errors of the run, even in a replay.
func TestErrorsOfADeviceThatReturns(t *testing.T) {
	want, err := steps(opened(t, refs(t, 1), Config{}), 6)
	if err != nil {
		t.Fatal(err)
	}
	for _, inCommit := range []bool{false, true} {
		for at, over := int64(0), false; !over; at++ {
			synctest.Test(t, func(t *testing.T) { over = returnsWrong(t, inCommit, at, want) })
		}
	}
}

// returnsWrong makes six steps. A device is lost in the fifth, and its replacement fails at call
// number at. over is true if the replacement made no call with that number.
func returnsWrong(t *testing.T, inCommit bool, at int64, want float64) (over bool) {
	wrong, n := &mistaken{Device: refs(t, 1)[0].Device, at: at}, 0
	again := &told{Device: wrong}
	first := &mortal{Device: refs(t, 1)[0].Device, dies: 5, inCommit: inCommit}
	d := opened(t, []Member{{Name: "d", Device: first}}, Config{Reopen: func(context.Context, string) (device.Device, error) {
		if n++; n == 1 {
			return again, nil
		}
		return refs(t, 1)[0].Device, nil
	}})
	d.ledger.Stride = 2
	got, err := steps(d, 6)
	if over = wrong.calls <= at; over || at < 2 { // calls 0 and 1 are Load and Write
		if err != nil || got != want || (n == 2) == over {
			t.Errorf("in a commit %v, call %d: %v; %d devices were opened", inCommit, at, err, n)
		}
	} else if err == nil || !strings.Contains(err.Error(), "planted") {
		t.Errorf("in a commit %v, call %d: %v", inCommit, at, err)
	}
	all, _ := stateOf(t)
	replay := fmt.Sprintf("write 0, train 6 [4 4 4 4 4], commit 0, write 0, train 7 [4 4 4 4 4], commit 1, "+
		"read x%d, write 0, train 8 [4 4 4 4 4], commit 2, write 0, train 9 [4 4 4 4 4], commit 3, read x%[1]d, "+
		"write 0, ", all)
	if !inCommit {
		replay += "grow 20x5, join 3 as 0 of [[0 1 2 3 4]], "
	}
	replay += "train 10 [4 4 4 4 4], commit 4, train 11"
	if calls := again.text(); over && (!strings.Contains(calls, replay) || d.ledger.Version != 4) {
		t.Errorf("in a commit %v: %s, want in it %s; a snapshot of version %d", inCommit, calls, replay,
			d.ledger.Version)
	}
	return over
}

// If a member fails to give its state to a device that came back, the run fails with its
// error.
func TestErrorOfTheStateForAnother(t *testing.T) {
	wrong := &mistaken{Device: refs(t, 1)[0].Device, at: -1}
	d := opened(t, []Member{{Name: "wrong", Device: wrong}}, Config{})
	learn(t, d)
	d.recovery.reopener.pending = &member{Member: refs(t, 1)[0], order: 1}
	for _, stale := range []bool{false, true} { // whether the group must also be formed again
		d.group.stale, wrong.at = stale, wrong.calls
		if _, err := d.Step(t.Context(), batchOf(20, 5, Keep, 20)); !errors.Is(err, errPlanted) {
			t.Errorf("%v, want the error of reading", err)
		}
	}
	if learn(t, d); len(d.group.members) != 2 {
		t.Errorf("%d members, want 2", len(d.group.members))
	}
}

// Devices that came back at the same time participate from the same step on.
func TestDevicesThatReturnTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := refs(t, 3)
		for i := range 2 {
			members[i].Device = &mortal{Device: members[i].Device, dies: 2}
		}
		again := make(chan struct{})
		d := opened(t, members, Config{Reopen: func(context.Context, string) (device.Device, error) {
			<-again
			return refs(t, 1)[0].Device, nil
		}})
		for i, want := range []int{3, 1, 3} {
			if learn(t, d); len(d.group.members) != want {
				t.Errorf("%d members, want %d", len(d.group.members), want)
			}
			if i == 1 {
				close(again)
				synctest.Wait()
			}
		}
	})
}

// rankEmptied makes steps on two ranks. The second rank loses its device in the second
// step. It returns the error of each rank, and the number of lost devices.
func rankEmptied(t *testing.T, c Config, first Member, meanwhile func(d *Driver)) (errs [2]error, lost int) {
	said, err := onRanks(2, func(p *fabric.Peers) (string, error) {
		c, members := withSizes(c), []Member{first}
		if c.Peers = p; p.Rank() == 1 {
			members = refs(t, 1)
			members[0].Device = &mortal{Device: members[0].Device, dies: 2}
			c.Lost = func(LostDevice) { lost++ }
		}
		d, err := Open(t.Context(), program(t, small(t), spmd.Options{Replicas: 5}), small(t).State, members, c)
		if err != nil {
			return "", err
		}
		defer d.Close()
		for i := range 3 {
			if i == 1 && p.Rank() == 0 {
				meanwhile(d)
			}
			if _, errs[p.Rank()] = steps(d, 1); errs[p.Rank()] != nil {
				return "", errs[p.Rank()]
			}
		}
		state, err := d.State(t.Context())
		return fmt.Sprint(state["fc1.weight"].F32()), err
	})
	if err == nil && said[0] != said[1] {
		t.Error("ranks have other states")
	}
	return errs, lost
}

// All ranks return the reason why a rank without a device cannot continue. A device that is lost at
// its first call is reported as one loss.
func TestRankThatStaysEmpty(t *testing.T) {
	nobody := func(context.Context, string) (device.Device, error) { return nil, errors.New("never") }
	var fine *mistaken
	for _, c := range []struct {
		name      string
		config    Config
		want      string
		lost      int
		meanwhile func(d *Driver)
	}{
		{"none comes", Config{Reopen: nobody, Timeout: time.Second}, "rank 1: no device is left, and none came back " +
			"within 1s: no device is left: ref0: mortal: Run: lost: killed", 1, nil},
		{"all are lost at once", Config{Reopen: func(context.Context, string) (device.Device, error) {
			return &mayfly{refs(t, 1)[0].Device, -1, device.Lost}, nil
		}, Timeout: time.Hour}, "11 devices were lost one after the other", 11, nil},
		{"the other cannot be read", Config{Reopen: afterDying(t, 0)}, "fine: Read: planted", 1, func(*Driver) {
			fine.at = fine.calls + 4 // the next calls are Run, Grow, Join and Run; then Read fails
		}},
		{"the other sends too little", Config{Reopen: afterDying(t, 0)}, "rank 0: it has sent a part of its state", 1,
			func(d *Driver) {
				less := *d.program.current
				less.State = less.State[1:]
				d.program.current = &less
			}},
		{"one is lost at once", Config{Reopen: afterDying(t, 1)}, "", 2, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			fine = &mistaken{Device: refs(t, 1)[0].Device, at: -1}
			if c.meanwhile == nil {
				c.meanwhile = func(*Driver) {}
			}
			errs, lost := rankEmptied(t, c.config, Member{Name: "fine", Device: fine}, c.meanwhile)
			text := fmt.Sprint(errs)
			if (c.want == "") != (errs[0] == nil && errs[1] == nil) || !strings.Contains(text, c.want) || lost != c.lost ||
				strings.Contains(text, "%!") {
				t.Errorf("%s: %d losses, %v", c.name, lost, errs)
			}
		})
	}
}

// afterDying returns an opener. Its first devices are lost when they are loaded.
func afterDying(t *testing.T, dying int) func(context.Context, string) (device.Device, error) {
	n := 0
	return func(context.Context, string) (device.Device, error) {
		if n++; n <= dying {
			return &mayfly{refs(t, 1)[0].Device, -1, device.Lost}, nil
		}
		return refs(t, 1)[0].Device, nil
	}
}

// If the connections between ranks have ended, the run returns that error, and not the error of the
// run that failed because of it.
func TestFabricThatEnds(t *testing.T) {
	var err error
	opened := make(chan struct{})
	_, _ = onRanks(2, func(p *fabric.Peers) (string, error) {
		d, failed := Open(t.Context(), program(t, small(t), spmd.Options{Replicas: 5}), small(t).State, refs(t, 1),
			withSizes(Config{Peers: p}))
		if failed != nil {
			return "", failed
		}
		defer d.Close()
		if p.Rank() == 0 {
			<-opened
			p.Abort("fire")
			return "", nil
		}
		close(opened)
		_, err = steps(d, 1)
		return "", nil
	})
	if want := "the fabric has ended: rank 0: fire"; !errors.Is(err, fabric.Ended) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
