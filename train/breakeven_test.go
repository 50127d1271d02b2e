package train

import (
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel"
)

// The values are computed by hand. A machine as fast as the host, 100 rows a second, reduces the cost of a
// row from 10 ms to 5 ms. Messages are 8,000 bytes for 8 rows, 92,000 bytes of sums, and five round trips of
// 2 ms.
func TestBreakEven(t *testing.T) {
	traffic := func(rate float64) *parallel.MachineTraffic {
		return &parallel.MachineTraffic{Rows: 8, RowBytes: 8000,
			Traffic: device.Traffic{Out: 60000, In: 40000, Waits: 5},
			Link:    device.Link{Machine: "m", Rate: rate, RoundTrip: 2 * time.Millisecond}}
	}
	for _, c := range []struct {
		rate, v, w float64
		batch      int
		want       string
	}{
		// 92,000/1e6 + 0.01 = 0.102 s fixed; 0.005 - 0.5*1000/1e6 = 0.0045 s a row; 22.67 rows.
		// At 16 rows: (92,000 + 8,000) / (0.08 - 0.01) = 1,428,571 bytes/s.
		{1e6, 100, 100, 16, "pays from a batch of 23, and at this batch from 11.4 Mbit/s"},
		// A row costs as much time on the link as it saves: 0.005 - 500/1e5 = 0.
		{1e5, 100, 100, 16, "pays at no batch, and at this batch from 11.4 Mbit/s"},
		// Two rows save 10 ms, which equals the time of the round trips.
		{1e6, 100, 100, 2, "pays from a batch of 23, and at this batch at no rate"},
		// The share of the machine is v/(v+w) = 0.75, and it saves 1/w - 1/(v+w) = 0.0075 s a row. So the
		// batch is 0.102 / (0.0075 - 0.00075) = 15.1, and the rate (92,000 + 12,000) / 0.11.
		{1e6, 300, 100, 16, "pays from a batch of 16, and at this batch from 7.6 Mbit/s"},
	} {
		if got := breakEven(traffic(c.rate), c.v, c.w, c.batch).String(); got != c.want {
			t.Errorf("%v: %s, want %s", c, got, c.want)
		}
	}
	if b := breakEven(traffic(0), 1, 1, 1); b != nil {
		t.Errorf("an unknown rate: %v", b)
	}
	if b := breakEven(traffic(1), 1, 0, 1); b != nil {
		t.Errorf("no other device: %v", b)
	}
}
