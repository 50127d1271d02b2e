package train

import (
	"testing"
	"time"
)

// An evaluation between two steps does not make them slower.
func TestMeterLeavesOut(t *testing.T) {
	m := newMeter()
	m.since = m.since.Add(-10 * time.Second)
	m.rows, m.sync = 100, time.Second/2
	m.leaveOut(9 * time.Second)
	if rate := m.throughput(); rate > 100 || rate < 20 {
		t.Errorf("100 rows in 1 of 10 seconds: %v a second", rate)
	}
	if perDevice := m.fraction(m.sync); perDevice > 0.5 || perDevice < 0.1 {
		t.Errorf("half of 1 second: %v", perDevice)
	}
}
