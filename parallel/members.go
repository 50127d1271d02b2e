package parallel

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
)

// The list is never changed in place. A run uses the list of its generation while a recovery
// creates the next one.

// members are the devices of a group, by rank.
type members []*member

// with returns the members and m, in the order of the devices of Open.
func (ms members) with(m *member) members {
	all := append(slices.Clone(ms), m)
	slices.SortFunc(all, func(a, b *member) int { return cmp.Compare(a.order, b.order) })
	return all
}

// without returns the members except one.
func (ms members) without(excluded *member) members {
	return slices.DeleteFunc(slices.Clone(ms), func(m *member) bool { return m == excluded })
}

func (ms members) names() []string {
	var names []string
	for _, m := range ms {
		names = append(names, m.Name)
	}
	return names
}

// replicas returns the replicas of every member.
func (ms members) replicas() [][]int {
	var ranges [][]int
	for _, m := range ms {
		ranges = append(ranges, m.replicas)
	}
	return ranges
}

// ahead reports whether every member accepts runs while others are in progress.
func (ms members) ahead() bool {
	return !slices.ContainsFunc(ms, func(m *member) bool { return !m.Device.Info().Has(device.Ahead) })
}

// meetAt reports whether every member can exchange at a level.
func (ms members) meetAt(level string) bool {
	for _, m := range ms {
		if !slices.Contains(m.Device.Info().Levels, level) {
			return false
		}
	}
	return true
}

// free closes the executables. The executable of a lost device is already gone.
func (ms members) free() error {
	var errs []error
	for _, m := range ms {
		if m.exe == nil {
			continue
		}
		if err := m.exe.Close(); !errors.Is(err, device.Lost) {
			errs = append(errs, err)
		}
		m.exe = nil
	}
	return errors.Join(errs...)
}

// each calls f for every member at once and returns the first error by rank. Errors that
// follow from an aborted group come last.
func (ms members) each(f func(rank int, m *member) error) error {
	errs := ms.all(f)
	var aborted error
	for i, err := range errs {
		switch {
		case err == nil:
		case errors.Is(err, collective.Aborted) || errors.Is(err, device.Aborted):
			aborted = err
		default:
			return ms[i].named(err)
		}
	}
	return aborted
}

// all calls f for every member at once and returns their errors by rank. It calls f for the
// last member itself, so a single device does not need a goroutine.
func (ms members) all(f func(rank int, m *member) error) []error {
	errs := make([]error, len(ms))
	var others sync.WaitGroup
	for i, m := range ms {
		call := func() { errs[i] = f(i, m) }
		if i < len(ms)-1 {
			others.Go(call)
		} else {
			call()
		}
	}
	others.Wait()
	return errs
}

// Kernels of different makers round differently. If one member rounds as defined and another does not,
// their weights would diverge after the first update, so one of them updates for both.

// leader returns the member that makes updates for others: a member with exact updates, if
// there is one.
func (ms members) leader() *member {
	if i := slices.IndexFunc(ms, (*member).exact); i >= 0 {
		return ms[i]
	}
	return ms[0]
}

// updatesDiffer reports whether the weights would differ if each member updated them itself.
func (ms members) updatesDiffer() bool {
	inexact := func(m *member) bool { return !m.exact() }
	return len(ms) > 1 && slices.ContainsFunc(ms, inexact)
}

// measured returns the rows per second of each member since the last call. A member without
// replicas keeps its previous value. ok is false if a member with replicas has not trained
// any rows, or if there are no members.
func (ms members) measured() (paces []float64, ok bool) {
	ok = len(ms) > 0
	for _, m := range ms {
		p := &m.pace
		if len(m.replicas) == 0 && p.speed > 0 {
			paces = append(paces, p.speed)
			continue
		}
		ok = ok && p.rows > 0 && p.busy > 0
		paces = append(paces, float64(p.rows)/max(p.busy, 1).Seconds())
		p.rows, p.busy = 0, 0
		p.times++
	}
	return paces, ok
}

// least returns the minimum number of replicas of each member: 1 for a member with fewer than two
// measurements, because the first may include steps in which the device compiled. Otherwise it is
// 0.
func (ms members) least() []int {
	least := make([]int, len(ms))
	for i, m := range ms {
		if m.pace.times < 2 {
			least[i] = 1
		}
	}
	return least
}

// speeds returns the speeds of the members. An unknown speed is the mean of the known ones;
// nil if all are unknown.
func (ms members) speeds() []float64 {
	sum, known := 0.0, 0
	for _, m := range ms {
		if m.pace.speed > 0 {
			sum, known = sum+m.pace.speed, known+1
		}
	}
	if known == 0 {
		return nil
	}
	var speeds []float64
	for _, m := range ms {
		v := m.pace.speed
		if v == 0 {
			v = sum / float64(known)
		}
		speeds = append(speeds, v)
	}
	return speeds
}
