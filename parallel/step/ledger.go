package step

import (
	"maps"
	"slices"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/tensor"
)

// The ledger holds everything that a replay needs: the state at some version, and for
// every step since then the data that led to the next version.
//
//	version      v            v+1           v+2          v+3 (present)
//	          snapshot
//	entries      | writes       | writes      | writes
//	             | batch        | batch       | batch        hyper: learning rate and so on
//	             | hyper        | hyper       | hyper
//	             +------------->+------------>+----------->
//
// Steps are deterministic, so a replay on any device gives the same state. The caller
// renews the snapshot when the ledger has become long (Ledger.Long). If
// lost devices never return, no ledger is needed.

// A ledger with this number of steps, or of input bytes, is too long.
const (
	ledgerSteps = 50
	ledgerBytes = 256 << 20
)

// Ledger holds the data needed to compute the present state again: a snapshot and the steps
// since then. The zero value is an empty ledger.
type Ledger struct {
	Version device.Version
	State   map[string]tensor.Tensor // state at that version
	Entries []Entry                  // an entry for every version since the snapshot
	Stride  int                      // steps of a replay between renewals of the snapshot; 0: never renewed

	// These fields belong to the step in progress:
	Batch  Batch
	Writes map[string]tensor.Tensor

	bytes int
}

// Entry is the data of a step from one version to the next.
type Entry struct {
	Writes map[string]tensor.Tensor // state tensors that were set before the step
	Batch  Batch
	Hyper  device.Hyper
}

// Begin makes a state of version v the snapshot, without steps since then.
func (l *Ledger) Begin(v device.Version, state map[string]tensor.Tensor) {
	*l = Ledger{Version: v, State: state, Batch: l.Batch, Stride: l.Stride}
}

// Write records that state tensors were set before the step in progress.
func (l *Ledger) Write(state map[string]tensor.Tensor) {
	if len(state) == 0 {
		return
	}
	if l.Writes == nil {
		l.Writes = map[string]tensor.Tensor{}
	}
	maps.Copy(l.Writes, state)
}

// Commit adds the step in progress as an entry.
func (l *Ledger) Commit(h device.Hyper) {
	e := Entry{l.Writes, l.Batch, h}
	l.Entries = append(l.Entries, e)
	l.bytes += e.size()
	l.Writes = nil
}

// size returns the size of an entry in bytes.
func (e Entry) size() (bytes int) {
	for _, t := range e.Batch.Rows {
		bytes += len(t.Bytes)
	}
	for _, t := range e.Writes {
		bytes += len(t.Bytes)
	}
	return bytes
}

// Forget removes all entries. The snapshot stays.
func (l *Ledger) Forget() { l.Entries, l.bytes = nil, 0 }

// Advance makes the state after the first n entries the snapshot.
func (l *Ledger) Advance(n int, state map[string]tensor.Tensor) {
	l.Version, l.State = l.Version+device.Version(n), state
	for _, e := range l.Entries[:n] {
		l.bytes -= e.size()
	}
	l.Entries = slices.Delete(l.Entries, 0, n)
}

// RenewOften makes later replays renew the snapshot as they run, for devices that do not
// survive a whole replay. They renew it after half of the entries, or after half of the
// previous stride.
func (l *Ledger) RenewOften() {
	longest := len(l.Entries)
	if l.Stride > 0 {
		longest = min(longest, l.Stride)
	}
	l.Stride = max(1, longest/2)
}

// Long reports whether the steps since the snapshot would take long to repeat, or their inputs need
// much memory.
func (l *Ledger) Long() bool { return len(l.Entries) >= ledgerSteps || l.bytes >= ledgerBytes }
