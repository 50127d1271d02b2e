package parallel

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
// renews the snapshot when the ledger has become long (Driver.SnapshotDue). Without
// Config.Reopen lost devices never return, so there is no ledger. With several ranks the
// other ranks have the state.

// A ledger with this number of steps, or of input bytes, is too long.
const (
	ledgerSteps = 50
	ledgerBytes = 256 << 20
)

// ledger holds the data needed to compute the present state again: a snapshot and the steps
// since then.
type ledger struct {
	version device.Version
	state   map[string]tensor.Tensor // state at that version
	entries []entry                  // one for every version since
	bytes   int
	stride  int // steps of a replay between renewals of the snapshot; 0: never renewed

	// These fields belong to the step in progress:
	batch  Batch
	writes map[string]tensor.Tensor
}

// entry is the data of a step from one version to the next.
type entry struct {
	writes map[string]tensor.Tensor // before the step
	batch  Batch
	hyper  device.Hyper
}

// keepsLedger reports whether all steps since a snapshot may have to be repeated. With
// several ranks, the other ranks still have the state that one rank has lost.
func (d *Driver) keepsLedger() bool {
	return d.config.Reopen != nil && d.ranks == nil
}

func (l *ledger) begin(v device.Version, state map[string]tensor.Tensor) {
	*l = ledger{version: v, state: state, batch: l.batch, stride: l.stride}
}

func (l *ledger) write(state map[string]tensor.Tensor) {
	if len(state) == 0 {
		return
	}
	if l.writes == nil {
		l.writes = map[string]tensor.Tensor{}
	}
	maps.Copy(l.writes, state)
}

func (l *ledger) commit(h device.Hyper) {
	e := entry{l.writes, l.batch, h}
	l.entries = append(l.entries, e)
	l.bytes += e.size()
	l.writes = nil
}

// size returns the size of an entry in bytes.
func (e entry) size() (bytes int) {
	for _, t := range e.batch.Rows {
		bytes += len(t.Bytes)
	}
	for _, t := range e.writes {
		bytes += len(t.Bytes)
	}
	return bytes
}

// advance makes the state after the first n entries the snapshot.
func (l *ledger) advance(n int, state map[string]tensor.Tensor) {
	l.version, l.state = l.version+device.Version(n), state
	for _, e := range l.entries[:n] {
		l.bytes -= e.size()
	}
	l.entries = slices.Delete(l.entries, 0, n)
}

// renewOften makes later replays renew the snapshot as they run, for devices that do not
// survive a whole replay. They renew it after half of the entries, or after half of the
// previous stride.
func (l *ledger) renewOften() {
	longest := len(l.entries)
	if l.stride > 0 {
		longest = min(longest, l.stride)
	}
	l.stride = max(1, longest/2)
}

func (l *ledger) long() bool { return len(l.entries) >= ledgerSteps || l.bytes >= ledgerBytes }

// Clone returns a batch that shares nothing with b.
func (b Batch) Clone() Batch {
	rows := make(map[string]tensor.Tensor, len(b.Rows))
	for name, t := range b.Rows {
		rows[name] = t.Clone()
	}
	b.Rows = rows
	return b
}
