package devicetest

import (
	"context"
	"fmt"

	"github.com/bnctl/bnctl/device"
)

// maxLeak is the number of bytes by which the process of a device may grow per call, in the
// long run.
const maxLeak = 8 << 20

// memoryCases are about memory that calls leak.
func memoryCases() []Case {
	return []Case{contractCase("memory: calls keep nothing",
		"What a call needs it gives back: a process that keeps memory of every call does not live through a run.",
		leaksNothing)}
}

// leakError is the error for a process that grows with every call. It ends the judgement, because
// thousands of further calls could use up all memory.
type leakError struct{ says string }

func (h *leakError) Error() string { return h.says }

// leaksNothing repeats the calls of a training. A device in this process has no separate
// memory, and passes.
func leaksNothing(ctx context.Context, m *member, s *setting) error {
	const calls = 8
	process := m.Info().Process
	for _, c := range []struct {
		name string
		call func(i int) error
	}{
		{"Run", func(int) error { _, err := s.run(ctx, m.x); return err }},
		{"Commit", func(i int) error { return commitNext(ctx, m, s, i) }},
		{"Write", func(int) error { return s.write(ctx, m.x) }},
		{"Read", func(int) error { _, err := m.x.Read(ctx, "bn.gamma"); return err }},
		{"Load", func(int) error { return loadAndFree(ctx, m, s) }},
	} {
		var before int64
		for i := range 2 * calls {
			if i == calls { // by now the process has allocated all memory that it needs
				before = residentBytes(process)
			}
			if err := c.call(i); err != nil {
				return err
			}
		}
		if grown := residentBytes(process) - before; before > 0 && grown > calls*maxLeak {
			return &leakError{fmt.Sprintf("%s: the process keeps %d MB of every call, %d MB by now", c.name,
				grown/calls/1e6, (before+grown)/1e6)}
		}
	}
	return nil
}

// commitNext runs and commits version i+1.
func commitNext(ctx context.Context, m *member, s *setting, i int) error {
	if _, err := m.x.Run(ctx, s.step(uint64(i))); err != nil {
		return err
	}
	return m.x.Commit(ctx, device.Version(i), rate)
}

func loadAndFree(ctx context.Context, m *member, s *setting) error {
	x, err := m.Load(ctx, s.program, capacity)
	if err != nil {
		return err
	}
	return x.Close()
}
