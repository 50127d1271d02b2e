package devicetest

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

func groupCases() []Case {
	n := small("batch")
	return []Case{
		newCase("group: a device is lost",
			"Join makes the device a member of a group, in place of the former one; devices may change during a run.",
			n.program, n.lost),
		contractCase("group: mistakes",
			"Group.Replicas: by rank; increasing; none twice; each below Leaves().", groupMistakes),
		contractCase("run: replicas of the group",
			"A device executes the logical replicas that its Group gives it.",
			replicasOfGroup),
	}
}

// lost trains on two devices, closes one after two steps, and continues with the other,
// which then holds all replicas. The result must equal the result of one device.
func (n network) lost(ctx context.Context, open Opener) error {
	want, err := n.trainOn(ctx, open, allReplicas)
	if err != nil {
		return err
	}
	tol, err := sameness(ctx, open)
	if err != nil {
		return err
	}
	s, err := n.setting(graph.Train, batches[0]...)
	if err != nil {
		return err
	}
	p, err := openGroup(ctx, open, s, []int{0, 1, 2, 5}, []int{3, 4, 6, 7})
	if err != nil {
		return err
	}
	defer p.close()
	t := &trained{}
	if err := n.steps(ctx, p, t, 0, 2); err != nil {
		return err
	}
	if err := p.leave(ctx); err != nil {
		return err
	}
	if err := n.steps(ctx, p, t, 2, len(batches)); err != nil {
		return fmt.Errorf("after a device was lost: %w", err)
	}
	if err := n.readAll(ctx, t, p); err != nil {
		return err
	}
	return n.compare(t, want, tol)
}

// leave closes the last of two members; the first one joins a group alone.
func (g *testGroup) leave(ctx context.Context) error {
	if err := g.members[1].Close(); err != nil {
		return err
	}
	g.members, g.replicas = g.members[:1], [][]int{allReplicas}
	return g.members[0].Join(ctx, g.group(0, 2))
}

func groupMistakes(ctx context.Context, m *member, s *setting) error {
	join := func(g device.Group) func() error {
		g.Level = m.Info().Levels[0]
		return func() error { return m.Join(ctx, g) }
	}
	if err := allFail([]attempt{
		{"a rank that there is not", device.Invalid, join(device.Group{Rank: 1, Replicas: [][]int{{0, 1, 2}}})},
		{"a negative rank", device.Invalid, join(device.Group{Rank: -1, Replicas: [][]int{{0, 1, 2}}})},
		{"a replica that is missing", device.Invalid, join(device.Group{Replicas: [][]int{{0, 2}}})},
		{"a replica twice", device.Invalid, join(device.Group{Replicas: [][]int{{0, 1, 1}}})},
		{"replicas that do not increase", device.Invalid, join(device.Group{Replicas: [][]int{{0, 2, 1}}})},
		{"a replica above the leaves", device.Invalid,
			join(device.Group{Replicas: [][]int{{0, 4}}, Tree: 4})},
		{"more replicas than leaves", device.Invalid,
			join(device.Group{Replicas: [][]int{{0, 1, 2}}, Tree: 2})},
		{"a negative number of leaves", device.Invalid,
			join(device.Group{Replicas: [][]int{{0, 1, 2}}, Tree: -1})},
		{"no members", device.Invalid, join(device.Group{})},
	}); err != nil {
		return err
	}
	_, err := s.run(ctx, m.x) // no trace of the attempt is left
	return err
}

func replicasOfGroup(ctx context.Context, m *member, s *setting) error {
	g := device.Group{Generation: 1, Level: m.Info().Levels[0], Replicas: [][]int{{0, 1, 2, 3}}}
	if err := m.Join(ctx, g); err != nil {
		return err
	}
	return allFail([]attempt{{"three replicas instead of the group's four", device.Invalid, func() error {
		_, err := m.x.Run(ctx, s.step(0))
		return err
	}}})
}
