package report

import (
	"fmt"
	"math"
	"strconv"

	"github.com/bnctl/bnctl/internal/chart"
	"github.com/bnctl/bnctl/problem"
)

// times is a table that shows how time was used.
type times struct {
	Title, Note string
	Rows        []timeRow
}

// timeRow has shares of the time, as text and as percentages for a bar: C for computing, S for waiting for
// other devices, I for waiting for input, and O for the rest.
type timeRow struct {
	Name, Compute, Sync, Input, Rate string
	C, S, I, O                       float64
}

// mostEpochRows is the maximum number of epochs in a table of times.
const mostEpochRows = 12

// times returns the tables that show how time was used: by epoch (the total, and some of the epochs), by
// device, and by rank.
func (r *Run) times(several bool) []times {
	if len(r.epochs) == 0 {
		return nil
	}
	name := func(unit string) string {
		if several {
			return r.Name + ", " + unit
		}
		return unit
	}
	t := times{Title: name("by epoch")}
	if v := r.sharedRow(); v != nil {
		t.Rows = append(t.Rows, *v)
	}
	every := (len(r.epochs) + mostEpochRows - 1) / mostEpochRows
	for i := len(r.epochs) - 1; i >= 0 && !several; i -= every {
		e := &r.epochs[i]
		compute := 1 - e.InputWait.float() - e.SyncWait.float()
		t.Rows = append(t.Rows, newTimeRow(fmt.Sprintf("epoch %d", e.Epoch), compute, e.SyncWait.float(),
			e.InputWait.float(), thousands(e.Throughput.float())))
	}
	if every > 1 && !several {
		t.Note = fmt.Sprintf("Every %d. epoch, the last one first.", every)
	}
	out := []times{t}
	last := &r.epochs[len(r.epochs)-1]
	if d := portions(name(fmt.Sprintf("by device, epoch %d", last.Epoch)), last.Devices,
		last.InputWait.float()); d != nil {
		out = append(out, *d)
	}
	if d := portions(name(fmt.Sprintf("by machine, epoch %d", last.Epoch)), last.Machines,
		last.InputWait.float()); d != nil {
		out = append(out, *d)
	}
	if d := portions(name(fmt.Sprintf("by rank, epoch %d", last.Epoch)), last.Ranks, math.NaN()); d != nil {
		out = append(out, *d)
	}
	return out
}

// sharedRow returns a row for all epochs, in which each epoch counts by its duration.
func (r *Run) sharedRow() *timeRow {
	total, sync, input, seen := 0.0, 0.0, 0.0, 0.0
	for _, e := range r.epochs {
		if !e.Seconds.isFinite() || !e.SyncWait.isFinite() || !e.InputWait.isFinite() {
			continue
		}
		seconds := e.Seconds.float()
		total += seconds
		sync += float64(seconds * e.SyncWait.float())
		input += float64(seconds * e.InputWait.float())
		seen += float64(e.Seen)
	}
	if total == 0 {
		return nil
	}
	sync, input = sync/total, input/total
	v := newTimeRow(fmt.Sprintf("%s, %s", problem.Plural(len(r.epochs), "epoch"), duration(total)),
		1-sync-input, sync,
		input, thousands(seen/total))
	return &v
}

// portions returns the table of devices or ranks, or nil without any. input is the share of the time
// that they waited for input. It is used for devices that do not report this share themselves.
func portions(title string, list []portion, input float64) *times {
	if len(list) == 0 {
		return nil
	}
	t := times{Title: title}
	for i, p := range list {
		name, waited, sync := p.Device, input, p.SyncWait.float()
		if p.Machine != "" {
			name = fmt.Sprintf("%s, sending %s", p.Machine, coarse(p.Sending.float()))
			sync = p.Waiting.float() + p.Sending.float()
			if p.BreakEven != nil {
				t.Note += p.Machine + " " + p.BreakEven.String() + ". "
			}
		}
		if name == "" {
			name = "rank " + strconv.Itoa(i)
		}
		if p.Stage > 0 {
			name += ", stage " + strconv.Itoa(p.Stage)
		}
		if p.InputWait.v != nil {
			waited = p.InputWait.float()
		}
		compute := p.Compute.float()
		if p.Compute.v == nil {
			compute = 1 - waited - sync
		}
		rate := ""
		if p.Throughput.v != nil {
			rate = thousands(p.Throughput.float())
		}
		t.Rows = append(t.Rows, newTimeRow(name, compute, sync, waited, rate))
	}
	return &t
}

func newTimeRow(name string, compute, sync, input float64, rate string) timeRow {
	bar := func(v float64) float64 {
		if !chart.Finite(v) {
			return 0
		}
		return math.Round(1000*min(max(v, 0), 1)) / 10
	}
	t := timeRow{Name: name, Compute: coarse(compute), Sync: coarse(sync), Input: coarse(input), Rate: rate,
		C: bar(compute), S: bar(sync), I: bar(input)}
	t.O = math.Round(10*max(0, 100-t.C-t.S-t.I)) / 10
	return t
}
