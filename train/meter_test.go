package train

import (
	"testing"
	"time"

	"github.com/bnctl/bnctl/parallel"
)

// An evaluation between two steps does not make them slower.
func TestMeterLeavesOut(t *testing.T) {
	m := newMeter(nil)
	m.since = m.since.Add(-10 * time.Second)
	m.rows, m.sync = 100, time.Second/2
	m.leaveOut(9*time.Second, nil, nil)
	if rate := m.throughput(); rate > 100 || rate < 20 {
		t.Errorf("100 rows in 1 of 10 seconds: %v a second", rate)
	}
	if perDevice := m.fraction(m.sync); perDevice > 0.5 || perDevice < 0.1 {
		t.Errorf("half of 1 second: %v", perDevice)
	}
}

// In 10 seconds one device computes 6 s and waits 1 s. Another one, which was reopened, computes 2 s and
// waits 1 s. Neither the work nor the time of an evaluation is counted.
func TestWhereTheTimeOfDevicesGoes(t *testing.T) {
	times := func(a, b, blocked time.Duration) []parallel.DeviceTime {
		return []parallel.DeviceTime{{Device: "a", Replicas: 3, Took: a * time.Second, Blocked: blocked * time.Second},
			{Device: "b", Replicas: 1, Took: b * time.Second, Blocked: time.Second}}
	}
	m := newMeter(times(50, 50, 5))
	m.leaveOut(4*time.Second, times(54, 54, 5), times(57, 57, 5))
	m.since = time.Now().Add(-10 * time.Second)
	all := m.deviceShares(times(60, 3, 6))
	near := func(got, want float64) bool { return got > 0.98*want && got <= want }
	if len(all) != 2 || all[0].Device != "a" || all[0].Replicas != 3 || !near(all[0].Compute, 0.6) ||
		!near(all[0].SyncWait, 0.1) || !near(all[1].Compute, 0.2) || !near(all[1].SyncWait, 0.1) {
		t.Errorf("%+v", all)
	}
}
