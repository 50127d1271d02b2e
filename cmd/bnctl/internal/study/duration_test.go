package study

import (
	"strings"
	"testing"
)

// InAnHour lists the settings that fit into an hour with all of their seeds, in order.
func TestInAnHour(t *testing.T) {
	r := made(0, 1)
	if r.InAnHour() != nil {
		t.Error("an answer without a measured step")
	}
	for _, c := range []struct {
		run  float64 // duration in seconds of one run; there are 5 settings and 3 seeds
		want string
	}{
		{100, "All 5 together: they need 25m0s"},
		{500, "2 of 5 together, in 50m0s by a measured step: single, 32 samples per replica; " +
			"sync, 2 samples per replica. All need 2h5m0s."},
		{2000, "None: all 5 need 8h20m0s"},
	} {
		for _, at := range r.Settings() {
			r.SetDuration(Duration{Setting: at, Step: c.run / 20, Run: c.run})
		}
		got := r.InAnHour()
		if !strings.Contains(got.Answer, c.want) || len(got.Details) != 5 {
			t.Errorf("%g s: %+v, want %q", c.run, got, c.want)
		}
	}
	want := "replica, 2 samples per replica: 1e+02 s a step, 33m20s a run, 1h40m0s with 3 seeds"
	if got := r.InAnHour().Details[2]; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
