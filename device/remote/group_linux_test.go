package remote_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/remote"
)

// running has the members of a group, and the result of the run of each.
type running struct {
	memory  device.GroupMemory
	members []device.Device
	errs    []chan error
}

// runGroup starts a step on three devices that meet in shared memory and sends a signal to
// the last one.
func runGroup(t *testing.T, signal syscall.Signal) *running {
	t.Helper()
	r := &running{}
	replicas := [][]int{{0}, {1}, {2}}
	p := start(t, "ref", device.CollShm, device.Shm)
	m, err := remote.Rendezvous{}.Meet(device.CollShm, 9, len(replicas))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	r.memory = m
	for rank := range replicas {
		d := open(t, p)
		r.members = append(r.members, d)
		x := load(t, d, regression(t))
		g := device.Group{Generation: 9, Rank: rank, Replicas: replicas, Level: device.CollShm,
			Rendezvous: m.Rendezvous()}
		if err := d.Join(context.Background(), g); err != nil {
			t.Fatal(err)
		}
		if rank == len(replicas)-1 {
			if err := syscall.Kill(d.Info().Process, signal); err != nil {
				t.Fatal(err)
			}
		}
		done := make(chan error, 1)
		r.errs = append(r.errs, done)
		go func() {
			_, err := x.Run(context.Background(), step(1, 2))
			done <- err
		}()
	}
	m.Joined()
	return r
}

// TestMemberOfAGroupIsLost kills or stops a member while the others wait for it.
// The host must see which member is missing, and its abort must end their waits.
func TestMemberOfAGroupIsLost(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
		r := runGroup(t, signal)
		for deadline := time.Now().Add(patience); !slices.Equal(r.memory.Missing(), []int{2}); {
			if time.Now().After(deadline) {
				t.Fatalf("%v: missing are %v, want rank 2", signal, r.memory.Missing())
			}
			time.Sleep(time.Millisecond)
		}
		r.memory.Abort(errors.New("rank 2 was lost"))
		for rank, done := range r.errs[:2] {
			select {
			case err := <-done:
				if !errors.Is(err, device.Aborted) {
					t.Errorf("%v: rank %d: %v, want %v", signal, rank, err, device.Aborted)
				}
			case <-time.After(patience):
				t.Fatalf("%v: the abort does not reach rank %d", signal, rank)
			}
		}
		r.members[2].Close()
		if err := <-r.errs[2]; err == nil {
			t.Errorf("%v: the run of the lost member worked", signal)
		}
		alone := device.Group{Generation: 10, Replicas: [][]int{{0, 1, 2}}}
		if err := r.members[0].Join(context.Background(), alone); err != nil {
			t.Errorf("%v: the next group: %v", signal, err)
		}
	}
}

// TestJoinWithoutTheMemory joins a group with memory that cannot be found.
func TestJoinWithoutTheMemory(t *testing.T) {
	d := open(t, start(t, "ref"))
	if !slices.Contains(d.Info().Levels, device.CollShm) {
		t.Fatalf("levels %v, want %s among them", d.Info().Levels, device.CollShm)
	}
	g := device.Group{Generation: 1, Replicas: [][]int{{0}, {1}}, Level: device.CollShm,
		Rendezvous: []byte(os.DevNull)}
	err := d.Join(context.Background(), g)
	if !errors.Is(err, device.Unavailable) || !strings.Contains(err.Error(), "shared memory") {
		t.Errorf("Join: %v, want %v and why", err, device.Unavailable)
	}
}

// TestGroupLevelCanBeForbidden checks that the levels (transports) of groups can be restricted like those
// of sessions.
func TestGroupLevelCanBeForbidden(t *testing.T) {
	for _, allowed := range [][]string{{device.Shm}, {device.Stream}} {
		if got := open(t, start(t, "ref", allowed...)).Info().Levels; slices.Contains(got, device.CollShm) {
			t.Errorf("levels %v, allowed were %v", got, allowed)
		}
	}
}
