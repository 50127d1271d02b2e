package devicetest

import (
	"context"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
)

// labelCases returns cases of losses with labels that are not classes.
func labelCases() []Case {
	var cases []Case
	for _, wrong := range []int32{5, -2} {
		x, l := rows(5), labels(5, -1).filledBy(listedInts(4, -1, 0, wrong))
		for _, p := range []probe{{op: graph.SoftmaxXent, operands: []operand{x, l}},
			{op: graph.SoftmaxXentGrad, operands: []operand{x, l, inverse}}, {op: graph.Correct,
				operands: []operand{x, l}}} {
			p.name = map[bool]string{true: "a label above the classes", false: "a label below 0"}[wrong > 0]
			cases = append(cases, newCase(p.title(), "Invalid: the caller's mistake: wrong program, input, version.",
				p.program, p.isRefused))
		}
	}
	return cases
}

// isRefused checks that a run with the probe's operands returns an error of kind Invalid.
func (p probe) isRefused(ctx context.Context, open Opener) error {
	s, err := p.setting()
	if err != nil {
		return err
	}
	m, err := loaded(ctx, open, s)
	if err != nil {
		return err
	}
	defer m.Close()
	_, err = m.x.Run(ctx, s.step(0))
	return wantKind(err, device.Invalid)
}
