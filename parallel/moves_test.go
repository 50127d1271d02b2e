package parallel

import (
	"context"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
)

// TestReplicasMoveForAReason: measured speeds move replicas if a step gets clearly shorter,
// if the user did not place them, and if results do not depend on it.
func TestReplicasMoveForAReason(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name   string
		busy   [2]time.Duration // time for 12 rows, and time for 8 rows
		config Config
		mixed  bool
		moved  bool
	}{
		{"nothing measured", [2]time.Duration{}, Config{}, false, false},
		{"as fast", [2]time.Duration{12 * s, 8 * s}, Config{}, false, false},
		{"a little faster", [2]time.Duration{12 * s, 7 * s}, Config{}, false, false},
		{"three times as fast", [2]time.Duration{36 * s, 8 * s}, Config{}, false, true},
		{"pinned", [2]time.Duration{36 * s, 8 * s}, Config{Placement: []int{3, 2}}, false, false},
		{"of several classes", [2]time.Duration{36 * s, 8 * s}, Config{}, true, false},
		{"of several classes, by speed", [2]time.Duration{36 * s, 8 * s}, Config{BySpeed: true}, true, true},
	} {
		g := opened(t, refs(t, 2), c.config).group
		g.mixed = c.mixed
		for i, m := range g.members {
			if m.pace.times = 1; c.busy[i] > 0 {
				m.pace.rows, m.pace.busy = []int{12, 8}[i], c.busy[i]
			}
		}
		if moved, err := g.Balance(t.Context()); err != nil || moved != c.moved {
			t.Errorf("%s: %v, %v", c.name, moved, err)
		}
	}
}

// TestCommitGoesToItsEnd: a context that ends before a commit does not prevent the new
// version on some devices.
func TestCommitGoesToItsEnd(t *testing.T) {
	d := opened(t, refs(t, 2), Config{})
	if _, err := d.Step(t.Context(), batchOf(20, 5, Keep, 20)); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := d.Commit(ended, device.Hyper{"lr": 0.1}); err != nil || d.Version() != 1 {
		t.Errorf("version %d, %v", d.Version(), err)
	}
}

// TestTimingIsOfADevice: the time of a step is the mean over the devices, waiting included.
func TestTimingIsOfADevice(t *testing.T) {
	d := opened(t, pacedRefs(t, time.Millisecond, time.Millisecond), Config{}) // rows: 12 and 8
	r, err := d.Step(t.Context(), batchOf(20, 5, Keep, 20))
	if want := (Timing{Took: 1010 * time.Millisecond, Blocked: time.Second}); err != nil || r.Timing != want {
		t.Errorf("%+v, %v, want %+v", r.Timing, err, want)
	}
}

// TestRowsOfPredict: devices share rows evenly, so the device with the least capacity
// limits the number of rows at once.
func TestRowsOfPredict(t *testing.T) {
	d := predicting(t, refs(t, 2), Config{})
	for i, rows := range []int{4, 3} {
		d.group.members[i].capacity.Rows = rows
	}
	if got := d.Rows(); got != 6 {
		t.Errorf("%d rows at once, want 6", got)
	}
}

// TestBatchClone: a clone shares nothing with its batch.
func TestBatchClone(t *testing.T) {
	b := batchOf(4, 2, Keep, 4)
	c, before := b.Clone(), b.Rows["x"].U8()[0]
	c.Rows["x"].U8()[0]++
	c.Rows["y"] = c.Rows["x"]
	if _, more := b.Rows["y"]; more || b.Rows["x"].U8()[0] != before {
		t.Error("a change of the clone is one of the batch")
	}
}
