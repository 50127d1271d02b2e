package train

import (
	"github.com/bnctl/bnctl/parallel"
	"testing"
	"time"
)

// Shares of ranks are added up by rank, and reported in a line.
func TestShares(t *testing.T) {
	m := newMeter(nil)
	if m.add(nil); m.rankShares() != nil || ranksLine(nil) != "" {
		t.Error("there are no ranks")
	}
	m = newMeter(nil)
	m.since = time.Now().Add(-10 * time.Second)
	for range 2 {
		m.add([]parallel.RankStats{{Rows: 30, Bytes: 1e6, Waited: time.Second, Blocked: time.Second / 2},
			{Rows: 1, Bytes: 0}})
	}
	all := m.rankShares()
	near := func(a, b float64) bool { return a > 0.5*b && a <= b }
	if len(all) != 2 || all[0].Rows != 60 || all[0].Bytes != 2e6 || !near(all[0].Throughput, 6) ||
		!near(all[0].InputWait, 0.2) || !near(all[0].SyncWait, 0.1) || all[1].Rows != 2 || all[1].InputWait != 0 {
		t.Errorf("%+v", all)
	}
	got := ranksLine([]RankShare{{Rows: 60, Throughput: 6, InputWait: 0.2, SyncWait: 0.1, Bytes: 2e6},
		{Rows: 1}})
	want := "ranks 0: 60 rows, 6 img/s, input 20 %, sync 10 %, 2.0 MB sent · " +
		"1: 1 row, 0 img/s, input 0 %, sync 0 %, 0.0 MB sent"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
