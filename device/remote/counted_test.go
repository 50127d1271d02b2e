package remote

import (
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
)

// TestTimesOfAMachine tests a run that lasted 10 s on the host's clock. The device computed for 5 s and
// waited for 3 s. Exchanges may wait for longer than 3 s, because the device may compute during an exchange.
func TestTimesOfAMachine(t *testing.T) {
	for _, c := range []struct{ others, sending time.Duration }{{1, 4}, {3, 2}, {7, 2}, {0, 5}} {
		o := device.Outcome{Took: 8 * time.Second, Blocked: 3 * time.Second}
		countSending(&o, 10*time.Second, c.others*time.Second)
		if o.Took != 10*time.Second || o.Blocked != 5*time.Second || o.Sending != c.sending*time.Second {
			t.Errorf("others %d: %+v", c.others, o)
		}
	}
}

// TestMeasuredRate checks that the rate excludes round trips, and that a nil counter (for a process of this
// machine) measures nothing.
func TestMeasuredRate(t *testing.T) {
	c := &counter{roundTrip: 50 * time.Millisecond}
	err := c.measured(func() (int, error) {
		c.sent.Add(1e6)
		time.Sleep(150 * time.Millisecond)
		return 2, nil
	})
	if rate := c.link("a").Rate; err != nil || rate > 20e6 || rate < 1e6 {
		t.Errorf("1 MB in 50 ms and two round trips: %.0f bytes a second, %v", rate, err)
	}
	if err := (*counter)(nil).measured(func() (int, error) { return 0, nil }); err != nil {
		t.Error(err)
	}
}

// TestProbe checks that a probe finds the rate of a connection that is slow at first, and sends few bytes.
func TestProbe(t *testing.T) {
	c := &counter{}
	sent := 0
	err := c.probe(func(bytes int) error {
		took := time.Duration(float64(bytes) / 50e6 * float64(time.Second))
		if sent += bytes; sent < 1<<20 {
			took *= 3
		}
		time.Sleep(2*time.Millisecond + took)
		return nil
	})
	l := c.link("a")
	if err != nil || l.Rate > 55e6 || l.Rate < 10e6 || sent > 6<<20 || l.RoundTrip < 2*time.Millisecond {
		t.Errorf("50 MB a second and 2 ms: %+v after %d bytes, %v", l, sent, err)
	}
	began := time.Now()
	if err := c.probe(func(bytes int) error { time.Sleep(300 * time.Millisecond); return nil }); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("a slow connection was probed for %v", took)
	}
}
