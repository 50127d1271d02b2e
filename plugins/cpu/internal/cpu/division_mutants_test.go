package cpu

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/lifecycle"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/cpu/internal/schedule"
	"github.com/bnctl/bnctl/plugins/cpu/internal/workers"
	"github.com/bnctl/bnctl/tensor"
)

// A divisionFault is one wrong division in a run: a task of a call of Frame.Each that is left out or done twice,
// or a range of schedule.RangeOf that is left out, begins late, ends early, or overlaps its neighbour.
type divisionFault struct {
	call, task, times int    // number of the call of Each, from 0; -1: the fault is in RangeOf
	part              [3]int // arguments i, parts and n of RangeOf
	from, to          int    // numbers that are added to the bounds of the range
	all               bool   // the whole range is left out
}

func (f divisionFault) String() string {
	switch {
	case f.call >= 0:
		return fmt.Sprintf("task %d of call %d is done %d times", f.task, f.call, f.times)
	case f.all:
		return fmt.Sprintf("range %v is left out", f.part)
	}
	return fmt.Sprintf("range %v is moved by %d, %d", f.part, f.from, f.to)
}

// doubles reports whether the fault only repeats work that is also done elsewhere. The results are then
// correct, unless they are added to existing values.
func (f divisionFault) doubles() bool {
	return f.times == 2 || f.call < 0 && !f.all && f.from <= 0 && f.to >= 0
}

// divisions watches the divisions of a run. It makes one of them faulty if fault is set.
type divisions struct {
	fault *divisionFault // may be nil
	calls []int          // number of tasks of every call of Each
	broke atomic.Bool    // a task panicked

	// While no fault is set, tasks run one at a time.
	mu     sync.Mutex
	parts  map[[3]int]bool // ranges that are not empty, without divisions into one part
	now    [2]int          // current call and task
	empty  map[[2]int]bool // tasks that have only empty ranges
	filled map[[2]int]bool // tasks that have at least one range that is not empty
}

// each is the hook for workers.Pool.Fault.
func (d *divisions) each(tasks int, do func(w *workers.Worker, task int)) func(w *workers.Worker, task int) {
	call := len(d.calls)
	d.calls = append(d.calls, tasks)
	return func(w *workers.Worker, task int) {
		if d.fault == nil {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.now = [2]int{call, task}
			do(w, task)
			return
		}
		defer func() {
			if recover() != nil {
				d.broke.Store(true)
			}
		}()
		times := 1
		if d.fault.call == call && d.fault.task == task {
			times = d.fault.times
		}
		for range times {
			do(w, task)
		}
	}
}

// part is the hook for schedule.RangeFault.
func (d *divisions) part(i, parts, n, from, to int) (int, int) {
	key := [3]int{i, parts, n}
	if d.fault == nil {
		d.empty[d.now] = true
		if from < to {
			d.filled[d.now] = true
		}
		if parts > 1 && from < to {
			d.parts[key] = true
		}
		return from, to
	}
	switch {
	case d.fault.call >= 0 || d.fault.part != key:
		return from, to
	case d.fault.all:
		return from, from
	}
	return from + d.fault.from, to + d.fault.to
}

// faults returns the faults of all divisions that were watched.
func (d *divisions) faults() (all []divisionFault) {
	for call, tasks := range d.calls {
		for _, task := range slices.Compact([]int{0, tasks / 2, tasks - 1}) {
			nothing := d.empty[[2]int{call, task}] && !d.filled[[2]int{call, task}]
			if tasks > 1 && !nothing {
				all = append(all, divisionFault{call: call, task: task},
					divisionFault{call: call, task: task, times: 2})
			}
		}
	}
	keys := slices.SortedFunc(maps.Keys(d.parts), func(a, b [3]int) int { return slices.Compare(a[:], b[:]) })
	for _, key := range keys {
		from, to := schedule.RangeOf(key[0], key[1], key[2])
		half := (to - from + 1) / 2
		all = append(all, divisionFault{call: -1, part: key, all: true},
			divisionFault{call: -1, part: key, from: half}, divisionFault{call: -1, part: key, to: -half})
		if from > 0 {
			all = append(all, divisionFault{call: -1, part: key, from: -min(from, half)})
		}
		if to < key[2] {
			all = append(all, divisionFault{call: -1, part: key, to: min(key[2]-to, half)})
		}
	}
	return all
}

// watched runs a draw while w watches its divisions, in memory that nothing else has used. If w has a
// fault, it is made. watched returns nil if the run panics.
func (d *divisionDraw) watched(t *testing.T, b *backend, rows int, w *divisions) (out []tensor.Tensor) {
	t.Helper()
	x, err := b.load(d.program, device.Capacity{Rows: rows, Replicas: 1})
	if err != nil {
		t.Fatalf("%v\n%v", d, err)
	}
	defer x.Close()
	state, inputs := d.tensors(rows)
	for name, v := range state {
		if err := x.Write(name, v); err != nil {
			t.Fatal(err)
		}
	}
	b.machine.Pool.Fault, schedule.RangeFault = w.each, w.part
	defer func() {
		b.machine.Pool.Fault, schedule.RangeFault = nil, nil
		if recover() != nil {
			out = nil
		}
	}()
	o, err := x.Run(t.Context(), lifecycle.Step{Step: device.Step{Function: graph.Predict, Rows: []int{rows},
		Inputs: inputs}})
	if err != nil || w.broke.Load() {
		return nil
	}
	return o.Outputs
}

// differs reports whether results differ from want. If got is nil, because the run panicked, they differ.
func differs(got, want []tensor.Tensor) bool {
	return got == nil || !slices.EqualFunc(got, want, sameValues)
}

// mutantCount counts the faults that were tried and those that changed a result, separately for faults that
// leave work out and faults that repeat work. Only each every-th fault is tried.
type mutantCount struct{ all, found, doubles, same, every, divisions int }

// partedShapes draws shapes so large that every worker gets a part of the work.
func partedShapes(r *rand.Rand, c opCase, _ uint64) map[string]int {
	return map[string]int{"C": pickChannels(r, 49, 97), "O": pickChannels(r, 33, 65), "H": 9 + r.IntN(5),
		"W": 13 + r.IntN(5)}
}

// TestDivisionMutants checks that every wrong division of work changes a result, for every operation: a
// task or a range that is left out, or a range that begins late or ends early. If a task or a range is done
// twice, this changes a result only where it is added to earlier values.
func TestDivisionMutants(t *testing.T) {
	draws, seed, total := (setting(t, "BNCTL_DIVISION", 0)+9)/10, setting(t, "BNCTL_SEED", 1), mutantCount{}
	ways, every := [][2]int{{2, 1}, {3, 2}, {2, 7}}, 1 // numbers of threads and of rows
	if draws == 0 {
		draws, ways, every = 1, [][2]int{{2, 3}}, 3
	}
	for _, c := range casesOf(t, "testdata/division.txt") {
		t.Run(c.name, func(t *testing.T) {
			count := mutantCount{every: every}
			for k := range draws {
				for _, way := range ways {
					count.of(t, c, uint64(seed+2*k), way[0], way[1])
				}
			}
			t.Logf("%d faults, %d found; %d doubled parts, %d of them without effect", count.all, count.found,
				count.doubles, count.same)
			if count.divisions == 0 {
				t.Error("nothing was divided")
			}
			total.all, total.found = total.all+count.all, total.found+count.found
			total.doubles, total.same = total.doubles+count.doubles, total.same+count.same
		})
	}
	t.Logf("%d faults, %d found; %d doubled parts, %d of them without effect", total.all, total.found,
		total.doubles, total.same)
}

// of draws a case in which all work is divided, and runs it again with every possible fault.
func (m *mutantCount) of(t *testing.T, c opCase, seed uint64, threads, rows int) {
	t.Helper()
	b := backendOf(openSet(t, "auto", threads))
	d := drawDivision(t, c, seed|1, partedShapes, b.machine.Schedule)
	d.schedule.Range = 2048 // in elements: twice the block size of a sum of squares
	b.machine.Schedule = d.schedule
	plain := &divisions{parts: map[[3]int]bool{}, empty: map[[2]int]bool{}, filled: map[[2]int]bool{}}
	want := d.watched(t, b, rows, plain)
	faults := plain.faults()
	m.divisions += len(faults)
	for i, f := range faults {
		if (i+int(seed))%m.every != 0 {
			continue
		}
		got := d.watched(t, b, rows, &divisions{fault: &f})
		switch found := differs(got, want); {
		case f.doubles():
			if m.doubles++; !found {
				m.same++
			}
		default:
			if m.all++; found {
				m.found++
				continue
			}
			t.Errorf("%d threads, %d rows: %v, and the results are the same\n%v", threads, rows, f, d)
		}
	}
}

// TestDivisionMutantsOfSums checks gradients that are added to a sum in memory. A task that is done twice
// changes the sum. This must hold for all tried tasks of a call of Each, or for none.
func TestDivisionMutantsOfSums(t *testing.T) {
	adding, doubled, found := 0, 0, 0
	for _, c := range ontoCases {
		b, p := backendOf(openSet(t, "auto", 3)), c.program(t)
		sum := func(w *divisions) (out []tensor.Tensor) {
			d := lifecycle.New(b.info, b)
			x, err := d.Load(t.Context(), p, device.Capacity{Rows: 9, Replicas: 5})
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			b.machine.Pool.Fault = w.each
			defer func() { b.machine.Pool.Fault = nil }()
			return []tensor.Tensor{ontoSum(t, x, p, []int{0, 1, 2, 3, 4})}
		}
		plain := &divisions{empty: map[[2]int]bool{}, filled: map[[2]int]bool{}}
		want, adds := sum(plain), map[int]bool{}
		for _, f := range plain.faults() {
			if !f.doubles() {
				continue // the results of train.forward are not read
			}
			differ := differs(sum(&divisions{fault: &f}), want)
			if f.task == 0 {
				adds[f.call] = differ
			}
			if differ != adds[f.call] {
				t.Errorf("%s: %v: the sum differs: %v, and with task 0: %v", c.op, f, differ, adds[f.call])
			}
			if doubled++; differ {
				found++
			}
		}
		for _, differ := range adds {
			if differ {
				adding++
			}
		}
	}
	if t.Logf("%d doubled tasks, %d of them found, of %d calls that add", doubled, found, adding); adding == 0 {
		t.Error("no task adds to a sum")
	}
}
