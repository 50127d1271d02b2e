package devicetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/tensor"
)

// testGroup is several devices in one group, each with the same program loaded.
type testGroup struct {
	hub      *collective.Hub
	memory   device.GroupMemory // nil: the devices exchange through the hub
	replicas [][]int
	machines []int // machine of each member, increasing; nil: all members are on one machine
	members  []*member
}

type member struct {
	device.Device
	x device.Executable
}

// openGroup opens a device for each entry of replicas, loads the setting on all and joins
// them in a group that exchanges data in the way that ctx determines.
func openGroup(ctx context.Context, open Opener, s *setting, replicas ...[]int) (*testGroup, error) {
	return openGroupOn(ctx, open, s, nil, replicas)
}

// openGroupOn does the same as openGroup for devices on several simulated machines, each with a separate
// group. The groups exchange data through this process.
func openGroupOn(ctx context.Context, open Opener, s *setting, machines []int, replicas [][]int) (
	*testGroup, error) {
	g := &testGroup{replicas: replicas, machines: machines,
		hub: collective.NewHub(len(slices.Concat(replicas...)), len(replicas))}
	for rank := range replicas {
		d, err := open.device(ctx)
		if err != nil {
			return nil, errors.Join(err, g.close())
		}
		m := &member{Device: d}
		g.members = append(g.members, m)
		if err := g.join(ctx, d); err != nil {
			return nil, errors.Join(err, g.close())
		}
		if err := d.Join(ctx, g.group(rank, 1)); err != nil {
			return nil, errors.Join(err, g.close())
		}
		if m.x, err = s.load(ctx, d); err != nil {
			return nil, errors.Join(err, g.close())
		}
	}
	return g, nil
}

func (g *testGroup) group(rank int, generation uint64) device.Group {
	group := device.Group{Generation: generation, Rank: rank, Replicas: g.replicas}
	if g.machines != nil {
		first, _ := slices.BinarySearch(g.machines, g.machines[rank])
		end, _ := slices.BinarySearch(g.machines, g.machines[rank]+1)
		group.Tree = group.Leaves()
		group.Rank, group.Replicas = rank-first, g.replicas[first:end]
	}
	if g.memory != nil && len(g.replicas) > 1 {
		group.Level, group.Rendezvous = device.CollShm, g.memory.Rendezvous()
	} else {
		group.Level, group.Exchange = g.members[rank].Info().Levels[0], g.hub.Member(rank)
	}
	return group
}

func (g *testGroup) close() error {
	var errs []error
	for _, m := range g.members {
		errs = append(errs, m.Close())
	}
	if g.memory != nil {
		errs = append(errs, g.memory.Close())
	}
	return errors.Join(errs...)
}

// run runs one step on all members at once. The first error aborts the group.
func (g *testGroup) run(ctx context.Context, s *setting, number uint64) ([][]tensor.Tensor, error) {
	outputs, errs := make([][]tensor.Tensor, len(g.members)), make([]error, len(g.members))
	var wait sync.WaitGroup
	for rank, m := range g.members {
		wait.Go(func() {
			h := s.ofReplicas(g.replicas[rank]...)
			o, err := m.x.Run(ctx, h.step(number))
			if err == nil {
				err = h.checkOutputs(ctx, o.Outputs)
			}
			if err != nil {
				g.abort(err)
				errs[rank] = fmt.Errorf("rank %d: %w", rank, err)
			}
			outputs[rank] = o.Outputs
		})
	}
	wait.Wait()
	return outputs, errors.Join(errs...)
}

// commit commits a version on all members.
func (g *testGroup) commit(ctx context.Context, v device.Version, h device.Hyper) error {
	for rank, m := range g.members {
		if err := m.x.Commit(ctx, v, h); err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	return nil
}

// read reads state tensors of an executable.
func read(ctx context.Context, x device.Executable, names []string) ([]tensor.Tensor, error) {
	var out []tensor.Tensor
	for _, name := range names {
		t, err := x.Read(ctx, name)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// equal compares lists of tensors. The error uses their names.
func equal(got, want []tensor.Tensor, tol tensor.Tolerance, names []string) error {
	for i := range want {
		if err := tensor.Close(got[i], want[i], tol); err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
	}
	return nil
}
