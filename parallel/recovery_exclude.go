package parallel

import (
	"fmt"
)

// The losses of a device are counted over the last 50 runs. A hang (h) counts three, because the
// other devices wait for the timeout. A death (x) counts one, or three if the device lacked memory:
//
//	runs     1 ....... 12 ...... 30 ...... 47          counts
//	lost          x         x          h               1 + 1 + 3 = 5 of 9

// A device that is lost again and again within some runs of the group is not opened any
// more while there are others. A hanging device counts more than a dying one, because it
// costs the others Config.Timeout every time. So does a device that lacks memory, because
// it will need the same memory again.
const (
	tallyRuns  = 50
	mostTally  = 9
	hangCounts = 3
)

// lossHistory holds the losses of each device, by name.
type lossHistory map[string][]loss

// loss is one loss: the number of the group's run, and its count.
type loss struct {
	run    uint64
	counts int
}

// add records that a device was lost at a run. It returns the number of times that it was lost in
// the recent runs, and the sum of the counts of these losses.
func (t lossHistory) add(name string, run uint64, costly bool) (times, counts int) {
	l := loss{run, 1}
	if costly {
		l.counts = hangCounts
	}
	var recent []loss
	for _, old := range append(t[name], l) {
		if old.run+tallyRuns > run {
			recent = append(recent, old)
			counts += old.counts
		}
	}
	t[name] = recent
	return len(recent), counts
}

// excluded returns the reason why a lost device is not opened any more, or "" if it is opened
// again. The last device and a device that has not run yet are always opened again; lossCount
// limits their losses. The pauses are shorter than the time that a run without devices waits.
func (r *recovery) excluded(m *member, starved bool) string {
	if starved {
		m.again = r.config.timeout() / 4
	}
	if len(r.group.members) == 0 || r.group.runs == 0 {
		return ""
	}
	times, counts := r.lossHistory.add(m.Name, r.group.runs, m.hung.Load() || starved)
	if times > 1 {
		m.again = max(m.again, min(firstPause<<min(times-2, 10), lastPause, r.config.timeout()/4))
	}
	if counts < mostTally {
		return ""
	}
	return fmt.Sprintf("lost %d times within %d runs: it is not opened again", times, tallyRuns)
}
