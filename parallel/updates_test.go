package parallel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/tensor"
)

// careless is a device that commits updates that are not finite and does not report that it
// checks them.
type careless struct{ *told }

func (d careless) Load(ctx context.Context, p *graph.Program, c device.Capacity) (device.Executable, error) {
	exe, err := d.told.Load(ctx, p, c)
	return &carelessExe{Executable: exe}, err
}

type carelessExe struct {
	device.Executable
	spoilt bool // Read returns an infinite first number for each tensor
}

func (e *carelessExe) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	if e.spoilt = math.IsInf(float64(h["lr"]), 1); e.spoilt {
		h = device.Hyper{"lr": 0.1}
	}
	return e.Executable.Commit(ctx, v, h)
}

func (e *carelessExe) Read(ctx context.Context, name string) (tensor.Tensor, error) {
	t, err := e.Executable.Read(ctx, name)
	if err == nil && e.spoilt {
		t = t.Clone()
		t.F32()[0] = float32(math.Inf(1))
	}
	return t, err
}

func (d careless) Info() device.Info {
	info := d.told.Info()
	info.Features = []string{device.Deterministic, device.ExactUpdates}
	return info
}

// If the devices do not check their updates, the state of one device is read after a commit. An update that
// is not finite is the last one, whether the device or the host detects it.
func TestWhoLooksAtUpdates(t *testing.T) {
	all, updated := stateOf(t)
	for _, c := range []struct {
		name           string
		careless       []bool
		template       bool
		first, another int // number of reads on the first and on another device after a commit
	}{
		{"it looks", []bool{false}, false, 0, 0},
		{"it does not", []bool{true}, false, all, 0},
		{"none of two does", []bool{true, true}, false, all, 0},
		{"the second does", []bool{true, false}, false, 0, 0},
		{"the first does", []bool{false, true}, false, 0, 0},
		{"one updates for all", []bool{true, true}, true, updated, 0},
	} {
		members := refs(t, len(c.careless))
		devices := tellers(members)
		for i, is := range c.careless {
			if is {
				members[i].Device = careless{devices[i]}
			}
		}
		d := opened(t, members, Config{Template: c.template})
		if _, err := d.Step(t.Context(), batchOf(20, 5, Keep, 20)); err != nil {
			t.Fatal(err)
		}
		reads := func() (n []int) {
			for _, d := range devices {
				n = append(n, 0)
				for _, call := range d.calls {
					if call == "read" {
						n[len(n)-1]++
					}
				}
				d.text()
			}
			return append(n, 0)
		}
		reads()
		if err := d.Commit(t.Context(), device.Hyper{"lr": 0.1}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := reads(); got[0] != c.first || got[1] != c.another {
			t.Errorf("%s: %v reads, want %d of the first, %d of another", c.name, got, c.first, c.another)
		}
		if _, err := d.Step(t.Context(), batchOf(20, 5, Keep, 20)); err != nil {
			t.Fatal(err)
		}
		err := d.Commit(t.Context(), device.Hyper{"lr": float32(math.Inf(1))})
		if !errors.Is(err, device.NonFinite) {
			t.Errorf("%s: an update that is not finite: %v", c.name, err)
		}
		if _, again := d.State(t.Context()); again == nil || again.Error() != err.Error() {
			t.Errorf("%s: the state after it: %v, want %v", c.name, again, err)
		}
	}
}

// If the state cannot be read for the check, the error of the read is returned unchanged.
func TestErrorOfTheLook(t *testing.T) {
	devices := tellers(refs(t, 1))
	d := opened(t, []Member{{Name: "careless", Device: careless{devices[0]}}}, Config{})
	learn(t, d)
	d.commitErr = errPlanted
	if err := d.checkState(t.Context()); !errors.Is(err, errPlanted) {
		t.Errorf("%v, want the error of reading", err)
	}
}

// A rank that loses its last device in a commit, even in the first one, has no device to place
// replicas on or to check, and continues: its next device gets the state of another rank.
func TestARankIsEmptyAfterACommit(t *testing.T) {
	for _, at := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			said, err := onRanks(2, func(p *fabric.Peers) (string, error) {
				members := refs(t, 1)
				config := Config{Peers: p, Reopen: func(context.Context, string) (device.Device, error) {
					return refs(t, 1)[0].Device, nil
				}}
				if p.Rank() == 1 {
					members[0].Device = &mortal{Device: members[0].Device, dies: at + 1, inCommit: true}
				}
				d, err := Open(t.Context(), program(t, small(t), spmd.Options{Replicas: 5}), small(t).State, members,
					withSizes(config))
				if err != nil {
					return "", err
				}
				defer d.Close()
				for range 3 {
					if _, err := steps(d, 1); err != nil {
						return "", err
					}
					if moved, err := d.Group().Balance(t.Context()); moved || err != nil {
						return "", fmt.Errorf("replicas of no device are moved: %v, %w", moved, err)
					}
				}
				state, err := d.State(t.Context())
				return fmt.Sprint(d.Version(), state["fc1.weight"].F32()), err
			})
			if err != nil || said[0] != said[1] {
				t.Errorf("after step %d: the same is %v, %v", at, said[0] == said[1], err)
			}
		})
	}
}

// withSizes returns a configuration of five replicas and batches of 20.
func withSizes(c Config) Config {
	c.Replicas, c.Batch = 5, 20
	return c
}

// A Commit fails if this rank has lost the gradients of the step: see Driver.commit.
func TestGradientsThatWereLostOnARank(t *testing.T) {
	d := opened(t, refs(t, 1), Config{})
	d.stepped, d.ranks, d.version = true, &rankGroup{}, 3
	if err := d.Commit(t.Context(), nil); !errors.Is(err, NoDevices) || d.Version() != 3 ||
		!strings.Contains(err.Error(), "of step 4") {
		t.Errorf("%v, version %d", err, d.Version())
	}
	d.ranks = nil
}
