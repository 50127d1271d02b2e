package parallel

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/bnctl/bnctl/device"
)

// Foreign devices are trusted only as far as they agree. From time to time (after 1, 2, 4,
// ... commits, and whenever the state is read) every member's state is hashed. Members that
// differ from the majority are lost. A built-in device has one and a half votes.

// maxCheckInterval is the maximum number of commits between two comparisons.
const maxCheckInterval = 256

// compareStates compares the state of the members if that is due: after commits 1, 2, 4, 8 and so on,
// and whenever the state is read (if always is set). Members that differ from the majority are lost if
// their wrong values cannot have reached other members yet. Only runs with foreign devices are
// checked: package devicetest checks the built-in devices in their tests.
func (d *Driver) compareStates(ctx context.Context, always bool) error {
	due := d.version >= d.checks.next || always && d.version > d.checks.compared
	foreign := slices.ContainsFunc(d.group.members, func(m *member) bool { return m.Foreign })
	if !due || !foreign || d.ranks != nil || d.version == 0 {
		return nil
	}
	for len(d.group.members) > 1 {
		wrong, err := d.disagreeing(ctx)
		if err == nil && len(wrong) == 0 {
			break
		}
		if err == nil {
			if verified := wrong[0].member.verified; d.version-verified > 1 {
				return fmt.Errorf("%w; after step %d it was: what came between cannot be trusted", wrong[0], verified)
			}
			err = wrong[0]
		}
		if err := d.recovery.replaceLost(ctx, err); err != nil {
			return err
		}
	}
	for _, m := range d.group.members {
		m.verified = d.version
	}
	apart := max(1, min(d.version-d.checks.since, maxCheckInterval))
	d.checks.compared, d.checks.next = d.version, d.version+apart
	return nil
}

// disagreeing returns the members that differ from the majority, each as a *lost. If two groups have
// equal votes, the group with a built-in device is right.
func (d *Driver) disagreeing(ctx context.Context) (wrong []*lost, err error) {
	ms, seed := d.group.members, maphash.MakeSeed()
	for _, s := range d.program.current.State {
		sums := make([]uint64, len(ms))
		err := d.group.eachAlone(func(rank int, m *member) error {
			t, err := m.exe.Read(ctx, s.Name)
			if err == nil {
				sums[rank] = maphash.Bytes(seed, t.Bytes)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if right, ok := ms.majority(sums); !ok {
			return nil, fmt.Errorf("after step %d %s hold different values of %s, so one of them is wrong; the judge "+
				"of plugins finds which", d.version, strings.Join(ms.names(), " and "), s.Name)
		} else {
			wrong = append(wrong, ms.others(sums, right, s.Name, d.version)...)
		}
		if len(wrong) > 0 {
			return wrong, nil
		}
	}
	return nil, nil
}

// majority returns the checksum that most members have. Foreign members count less.
func (ms members) majority(sums []uint64) (right uint64, ok bool) {
	weight, best := map[uint64]int{}, 0
	for rank, m := range ms {
		w := 2
		if !m.Foreign {
			w = 3 // two foreign devices outvote a built-in one, but a single one does not
		}
		weight[sums[rank]] += w
	}
	for sum, w := range weight {
		switch {
		case w > best:
			right, best, ok = sum, w, true
		case w == best:
			ok = false
		}
	}
	return right, ok
}

// others returns the members with a different checksum of a tensor.
func (ms members) others(sums []uint64, right uint64, name string, v device.Version) (wrong []*lost) {
	for rank, m := range ms {
		if sums[rank] != right {
			wrong = append(wrong, &lost{m, device.Errorf(m.Name, "Commit", device.Lost,
				"after step %d %s is not what %s", v, name, ms.holders(sums, right))})
		}
	}
	return wrong
}

// holders lists the members that have a checksum, followed by "has" or "have".
func (ms members) holders(sums []uint64, sum uint64) string {
	var names []string
	for rank, m := range ms {
		if sums[rank] == sum {
			names = append(names, m.Name)
		}
	}
	if len(names) == 1 {
		return names[0] + " has"
	}
	return strings.Join(names, ", ") + " have"
}
