package step

import (
	"maps"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/tensor"
)

// TestLedger: an entry includes the writes before its step, and their bytes.
func TestLedger(t *testing.T) {
	four := tensor.New(tensor.F32, 4) // 16 bytes
	var l Ledger
	l.Begin(7, nil)
	l.Write(nil)
	if l.Writes != nil {
		t.Error("nothing was written, and is kept")
	}
	l.Write(map[string]tensor.Tensor{"a": four})
	l.Write(map[string]tensor.Tensor{"b": four})
	l.Batch = Batch{Rows: map[string]tensor.Tensor{"x": four}}
	l.Commit(nil)
	l.Commit(nil)
	if got := slices.Sorted(maps.Keys(l.Entries[0].Writes)); !slices.Equal(got, []string{"a", "b"}) ||
		len(l.Entries[1].Writes) > 0 {
		t.Errorf("writes %v, then %v; want a and b, then none", got, l.Entries[1].Writes)
	}
	if l.bytes != 48+16 {
		t.Errorf("%d bytes, want 64", l.bytes)
	}
	if l.Advance(1, nil); l.bytes != 16 || l.Version != 8 || len(l.Entries) != 1 {
		t.Errorf("after the first step: %d bytes, version %d, %d entries", l.bytes, l.Version, len(l.Entries))
	}
	for _, c := range []struct {
		entries, bytes int
		long           bool
	}{{ledgerSteps - 1, ledgerBytes - 1, false}, {ledgerSteps, 0, true}, {0, ledgerBytes, true}} {
		l := Ledger{Entries: make([]Entry, c.entries), bytes: c.bytes}
		if l.Long() != c.long {
			t.Errorf("%d entries of %d bytes: long is %v", c.entries, c.bytes, l.Long())
		}
	}
}
