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
	"github.com/bnctl/bnctl/fabric"
)

// A device that comes back and answers one call with an error, whichever: that is the error of the run, or the
// device is lost once more and the next one has the bits that there must be.
func TestErrorsOfADeviceThatReturns(t *testing.T) {
	want, err := everything(t, refs(t, 1), Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, dies := range []bool{false, true} { // in a run, in a commit
		told := 0
		for at, over := int64(0), false; !over; at++ {
			synctest.Test(t, func(t *testing.T) {
				wrong, opened := &mistaken{Device: refs(t, 1)[0].Device, at: at}, 0
				first := &mortal{Device: refs(t, 1)[0].Device, dies: 2, inCommit: dies}
				got, err := everything(t, []Member{{"d", first}}, Config{Reopen: func(context.Context, string) (
					device.Device, error) {
					if opened++; opened == 1 {
						return wrong, nil
					}
					return refs(t, 1)[0].Device, nil
				}})
				if err == nil && got != want || err != nil && !strings.Contains(err.Error(), errPlanted.Error()) {
					t.Errorf("in a commit %v, call %d: %v", dies, at, err)
				}
				if err != nil {
					told++
				}
				over = wrong.calls <= at
			})
		}
		if told < 10 {
			t.Errorf("in a commit %v: %d errors were told", dies, told)
		}
	}
}

// What is wrong with a member that has to give its state to one that came back is what is wrong with the run.
func TestErrorOfTheStateForAnother(t *testing.T) {
	wrong := &mistaken{Device: refs(t, 1)[0].Device, at: -1}
	d := opened(t, []Member{{"wrong", wrong}}, Config{})
	learn(t, d)
	d.recovery.reopener.pending = &member{Member: refs(t, 1)[0], order: 1}
	wrong.at = wrong.calls
	if _, err := d.Step(t.Context(), batchOf(20, 5, Keep, 20)); !errors.Is(err, errPlanted) {
		t.Errorf("%v, want the error of reading", err)
	}
	if learn(t, d); len(d.group.members) != 2 {
		t.Errorf("%d members, want 2", len(d.group.members))
	}
}

// Devices that came back at the same time take part in the same step.
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

// rankEmptied makes steps on two ranks, the second of which loses its device in the second one. It returns the
// error of each rank, and how often a device was lost.
func rankEmptied(t *testing.T, c Config, first Member, meanwhile func(d *Driver)) (errs [2]error, lost int) {
	said, err := onRanks(2, func(p *fabric.Peers) (string, error) {
		c, members := withSizes(c), []Member{first}
		if c.Peers = p; p.Rank() == 1 {
			members = refs(t, 1)
			members[0].Device = &mortal{Device: members[0].Device, dies: 2}
			c.Lost = func(LossEvent) { lost++ }
		}
		d, err := Open(t.Context(), program(t, small(t), Options{Replicas: 5}), small(t).State, members, c)
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

// Why a rank without a device cannot go on is what all ranks say; a device that is lost at once is lost once.
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
			"within 1s", 1, nil},
		{"all are lost at once", Config{Reopen: func(context.Context, string) (device.Device, error) {
			return &mayfly{refs(t, 1)[0].Device, -1, device.Lost}, nil
		}, Timeout: time.Hour}, "11 devices were lost one after the other", 11, nil},
		{"the other cannot be read", Config{Reopen: afterDying(t, 0)}, errPlanted.Error(), 1, func(*Driver) {
			fine.at = fine.calls + 2 // after Run, Grow and Join
		}},
		{"the other sends too little", Config{Reopen: afterDying(t, 0)}, "rank 0: it has sent a part of its state", 1,
			func(d *Driver) {
				less := *d.program.Program
				less.State = less.State[1:]
				d.program.Program = &less
			}},
		{"one is lost at once", Config{Reopen: afterDying(t, 1)}, "", 2, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			fine = &mistaken{Device: refs(t, 1)[0].Device, at: -1}
			if c.meanwhile == nil {
				c.meanwhile = func(*Driver) {}
			}
			errs, lost := rankEmptied(t, c.config, Member{"fine", fine}, c.meanwhile)
			text := fmt.Sprint(errs)
			if (c.want == "") != (errs[0] == nil && errs[1] == nil) || !strings.Contains(text, c.want) || lost != c.lost {
				t.Errorf("%s: %d losses, %v", c.name, lost, errs)
			}
		})
	}
}

// afterDying returns an opener of devices the first of which are lost when they are loaded.
func afterDying(t *testing.T, dying int) func(context.Context, string) (device.Device, error) {
	n := 0
	return func(context.Context, string) (device.Device, error) {
		if n++; n <= dying {
			return &mayfly{refs(t, 1)[0].Device, -1, device.Lost}, nil
		}
		return refs(t, 1)[0].Device, nil
	}
}
