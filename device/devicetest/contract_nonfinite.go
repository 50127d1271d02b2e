package devicetest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// larsRule is LARS. The ratio is a hyper-parameter of the step.
var larsRule = updateRule{
	slots:  []string{".velocity"},
	values: device.Hyper{"lr": 0.125, "ratio": 0.5},
	hyper:  inputs("lr", "ratio"),
	update: func(b *netBuilder, s graph.State, g graph.Value, h map[string]graph.Value) {
		updates(b, graph.LARS, graph.Attrs{}.With("weight_decay", 1e-4), []string{s.Name, s.Name + ".velocity"},
			b.param(s.Name), g, slot(b, s, ".velocity"), h["lr"], h["ratio"])
	},
}

// nonFiniteCases returns a case for each optimizer but SGD. The state of one optimizer tensor after the
// other is NaN, so that only the operation that reads this tensor has results that are not finite.
func nonFiniteCases() []Case {
	var cases []Case
	for _, o := range []struct {
		name  string
		rule  updateRule
		slots []string
	}{
		{"AdamW", adamRule, []string{".first", ".second"}},
		{"EMA", adamRule, []string{".average"}},
		{"LARS", larsRule, []string{".velocity"}},
	} {
		n := small("batch")
		n.name, n.rule = "small, updates of "+o.name, o.rule
		cases = append(cases, newCase("commit: not finite, "+o.name, "If a result of an optimizer is infinite or "+
			"NaN somewhere, the error of a device with the feature FiniteUpdates wraps NonFinite and names the "+
			"tensor.",
			n.program, func(ctx context.Context, open Opener) error { return n.refusesNaN(ctx, open, o.slots) }))
	}
	return cases
}

// refusesNaN checks that a commit is refused if one of slots is NaN.
func (n network) refusesNaN(ctx context.Context, open Opener, slots []string) error {
	for _, slot := range slots {
		s, err := n.setting(graph.Train, someRows...)
		if err != nil {
			return err
		}
		for _, name := range n.names() {
			if strings.HasSuffix(name, slot) {
				set(s.state[name], func(int) float64 { return math.NaN() })
			}
		}
		if err := n.refusesCommit(ctx, open, s); err != nil {
			return fmt.Errorf("%s is NaN: %w", slot, err)
		}
	}
	return nil
}

// refusesCommit checks that the commit of a step is refused on a device that looks for such updates.
func (n network) refusesCommit(ctx context.Context, open Opener, s *setting) error {
	m, err := loaded(ctx, open, s)
	if err != nil {
		return err
	}
	defer m.Close()
	if !m.Info().Has(device.FiniteUpdates) {
		return nil
	}
	if _, err := s.run(ctx, m.x); err != nil {
		return err
	}
	err = m.x.Commit(ctx, 0, n.rule.values)
	if err := wantKind(err, device.NonFinite); err != nil {
		return err
	}
	if !slices.ContainsFunc(n.names(), func(name string) bool { return strings.Contains(err.Error(), name) }) {
		return fmt.Errorf("error %q names no state tensor", err)
	}
	return nil
}
