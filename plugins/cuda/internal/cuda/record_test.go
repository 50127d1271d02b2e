package cuda

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/plugins/gpu"
	"github.com/bnctl/bnctl/plugins/internal/bitwise"
	"github.com/bnctl/bnctl/tensor"
)

// recordings are the recordings of a driver for tests. nil records nothing.
type recordings struct {
	all  map[gpu.Recording][]gpu.Launch
	last gpu.Recording
}

// add keeps a copy of launches, with copies of their arguments.
func (r *recordings) add(launches []gpu.Launch) gpu.Recording {
	if r == nil {
		return 0
	}
	list := slices.Clone(launches)
	for i := range list {
		list[i].Args = slices.Clone(list[i].Args)
	}
	if r.all == nil {
		r.all = map[gpu.Recording][]gpu.Launch{}
	}
	r.last++
	r.all[r.last] = list
	return r.last
}

// replay calls launch for each launch of a recording.
func (r *recordings) replay(n gpu.Recording, launch func(string, [2]int, []any) error) error {
	if r == nil || r.all[n] == nil {
		return fmt.Errorf("there is no recording %d", n)
	}
	for _, l := range r.all[n] {
		if err := launch(l.Kernel, l.Groups, l.Args); err != nil {
			return err
		}
	}
	return nil
}

func (r *recordings) forget(n gpu.Recording) error {
	if r == nil || r.all[n] == nil {
		return fmt.Errorf("there is no recording %d", n)
	}
	delete(r.all, n)
	return nil
}

// logged is a driver without hardware that lists all calls, and each launch of a recording. All memory is
// zero. It records launches that have run at least from times.
type logged struct {
	noted
	*recordings
	calls    *[]string
	from     int
	replays  *int
	launches *int
	fault    int    // number of the launch that fails; 0: no launch fails
	broken   string // the method that fails, "Record" or "Replay"
}

var errFault = errors.New("a fault")

func newLogged(r *recordings, from int) logged {
	return logged{noted: noted{map[string]int{}, new(gpu.Buffer), withoutUnits}, recordings: r,
		calls: new([]string), from: from, replays: new(int), launches: new(int)}
}

func (l logged) note(call string, args ...any) { *l.calls = append(*l.calls, fmt.Sprint(call, args)) }

func (l logged) Alloc(bytes int) (gpu.Buffer, error) {
	l.note("alloc", bytes)
	return l.noted.Alloc(bytes)
}

func (l logged) Free(b gpu.Buffer) error {
	l.note("free", b)
	return nil
}

var seed = maphash.MakeSeed()

func (l logged) Write(to gpu.Buffer, at int, data []byte) error {
	l.note("write", to, at, len(data), maphash.Bytes(seed, data))
	return nil
}

func (l logged) Read(list ...gpu.Transfer) func() error {
	for _, t := range list {
		l.note("read", t.From, t.At, len(t.Data))
	}
	return func() error { return nil }
}

func (l logged) Copy(to, from gpu.Buffer, n int) error {
	l.note("copy", to, from, n)
	return nil
}

func (l logged) Launch(kernel string, groups [2]int, args []any) error {
	l.note("launch "+kernel, groups, args)
	if *l.launches++; *l.launches == l.fault {
		return errFault
	}
	return nil
}

func (l logged) Record(launches []gpu.Launch, ran int) (gpu.Recording, error) {
	switch {
	case ran < l.from:
		return 0, nil
	case l.broken == "Record":
		return 0, errFault
	}
	return l.recordings.add(launches), nil
}

func (l logged) Replay(r gpu.Recording) error {
	*l.replays++
	next := *l.launches + 1
	if l.broken == "Replay" || l.fault >= next && l.fault < next+len(l.recordings.all[r]) {
		return errFault // it has run nothing
	}
	return l.recordings.replay(r, l.Launch)
}

func (l logged) Forget(r gpu.Recording) error { return l.recordings.forget(r) }

// unordered reports whether the order of a call is undefined: cases read state tensors in any order.
func unordered(call string) bool {
	return strings.HasPrefix(call, "free") || strings.HasPrefix(call, "read")
}

// inOrder returns the calls with a defined order, then the other calls, sorted.
func inOrder(calls []string) (list []string) {
	var rest []string
	for _, c := range calls {
		if unordered(c) {
			rest = append(rest, c)
		} else {
			list = append(list, c)
		}
	}
	slices.Sort(rest)
	return append(list, rest...)
}

// callsOf returns the calls of drivers. Several drivers run at the same time, so their calls are sorted.
func callsOf(drivers []logged) (list []string) {
	if len(drivers) == 1 {
		return inOrder(*drivers[0].calls)
	}
	for _, d := range drivers {
		list = append(list, *d.calls...)
	}
	slices.Sort(list)
	return list
}

// differ returns an error that names the first difference between two lists of calls.
func differ(plain, recorded []logged) error {
	x, y := callsOf(plain), callsOf(recorded)
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Errorf("call %d is %s, with recordings %s", i, x[i], y[i])
		}
	}
	if len(x) != len(y) {
		return fmt.Errorf("%d calls, with recordings %d", len(x), len(y))
	}
	return nil
}

// judged returns the drivers of the devices that a case opens.
func judged(ctx context.Context, c devicetest.Case, make func() logged) (all []logged) {
	var mu sync.Mutex
	open := func(context.Context, string) (device.Device, error) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, make())
		return gpu.New(anyGPU, all[len(all)-1]), nil
	}
	c.Judge(ctx, open, device.F32) // its outcome has no meaning: nothing is computed
	return all
}

// TestRecordedCalls runs all conformance cases on a device that replays recordings and on a device that
// launches every kernel. It checks that both make the same driver calls, and that all recordings are freed.
func TestRecordedCalls(t *testing.T) {
	ctx := devicetest.WithZeros(t.Context())
	replays, launches := 0, 0
	for _, c := range devicetest.Cases() {
		plain := judged(ctx, c, func() logged { return newLogged(nil, 0) })
		recorded := judged(ctx, c, func() logged { return newLogged(&recordings{}, 0) })
		for _, l := range recorded {
			replays, launches = replays+*l.replays, launches+*l.launches
			if n := len(l.recordings.all); n > 0 {
				t.Errorf("%s leaves %d recordings", c.Name, n)
			}
		}
		if err := differ(plain, recorded); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
	t.Logf("%d replays with some of %d launches", replays, launches)
	if replays < 1000 {
		t.Errorf("%d recordings were replayed in all", replays)
	}
}

// walk makes random calls of an executable that trains a small network: runs with different numbers of rows,
// cancelled runs, Grow, writes of state, and commits.
type walk struct {
	x       device.Executable
	p       *graph.Program
	draws   *rand.Rand
	version device.Version
	rows    int // capacity
}

const mostRows = 4

// trained returns a program with the functions train and commit.
func trained(t *testing.T) *graph.Program {
	t.Helper()
	p, _, err := bitwise.Run{Model: "lenet-bn", Side: 28, BN: bn.Sync, Batch: 2, Replicas: 3}.Program()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// steps makes n calls, and returns the error of each and the outputs of all.
func (w *walk) steps(ctx context.Context, n int) (errs []string, outputs []tensor.Tensor) {
	for range n {
		err := error(nil)
		var out device.Outcome
		switch k := w.draws.IntN(12); {
		case k == 0 && w.rows < mostRows:
			w.rows++
			err = w.x.Grow(ctx, device.Capacity{Rows: 3 * w.rows, Replicas: 3})
		case k == 1:
			s := w.p.State[w.draws.IntN(len(w.p.State))]
			err = w.x.Write(ctx, s.Name, fillRandomly(w.draws, tensor.New(s.DType, s.Shape...)))
		case k == 2:
			gone, cancel := context.WithCancel(ctx)
			cancel()
			_, err = w.x.Run(gone, w.step())
		case k < 5:
			if err = w.x.Commit(ctx, w.version, device.Hyper{"lr": w.draws.Float32()}); err == nil {
				w.version++
			}
		default:
			out, err = w.x.Run(ctx, w.step())
		}
		errs, outputs = append(errs, fmt.Sprint(err)), append(outputs, out.Outputs...)
	}
	return errs, outputs
}

// step returns a training step with random numbers of rows. One step in ten has an invalid label.
func (w *walk) step() device.Step {
	s := device.Step{Function: graph.Train}
	total := 0
	for range 3 {
		n := w.draws.IntN(2) * min(w.rows, 2)
		s.Rows, total = append(s.Rows, n), total+n
	}
	if total == 0 {
		s.Rows[1], total = 1, 1
	}
	fn := w.p.Function(graph.Train)
	for _, id := range fn.Inputs {
		v := fn.Values[id]
		in := fillRandomly(w.draws, tensor.New(v.Type.DType, v.Type.Sized(total, 3)...))
		if in.DType == tensor.I32 && w.draws.IntN(10) == 0 {
			in.I32()[0] = 1000
		}
		s.Inputs = append(s.Inputs, in)
	}
	return s
}

// fillRandomly fills a tensor with labels, pixels or small numbers.
func fillRandomly(r *rand.Rand, t tensor.Tensor) tensor.Tensor {
	switch t.DType {
	case tensor.I32:
		for i := range t.I32() {
			t.I32()[i] = int32(r.IntN(10))
		}
	case tensor.F32:
		for i := range t.F32() {
			t.F32()[i] = r.Float32() / 8
		}
	case tensor.F64:
		for i := range t.F64() {
			t.F64()[i] = r.Float64()
		}
	default:
		for i := range t.Bytes {
			t.Bytes[i] = byte(r.IntN(256))
		}
	}
	return t
}

// newWalk loads the program on a device of a driver.
func newWalk(t *testing.T, d gpu.Driver, p *graph.Program, seed uint64) *walk {
	t.Helper()
	w := &walk{p: p, draws: rand.New(rand.NewPCG(seed, 1)), rows: 1}
	var err error
	if w.x, err = gpu.New(anyGPU, d).Load(t.Context(), p, device.Capacity{Rows: 3, Replicas: 3}); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestRecordedWalks repeats TestRecordedCalls with random sequences of calls. The drivers record launches when
// they run for the first, second or third time.
func TestRecordedWalks(t *testing.T) {
	p := trained(t)
	for seed := range uint64(4) {
		plain := newLogged(nil, 0)
		w := newWalk(t, plain, p, seed)
		want, _ := w.steps(t.Context(), 120)
		w.x.Close()
		for from := range 3 {
			r := &recordings{}
			l := newLogged(r, from)
			w := newWalk(t, l, p, seed)
			got, _ := w.steps(t.Context(), 120)
			if *l.replays < 15 || len(r.all) > 64 {
				t.Errorf("seed %d: %d replays, %d recordings are kept", seed, *l.replays, len(r.all))
			}
			w.x.Close()
			if !slices.Equal(got, want) {
				t.Errorf("seed %d: errors %q, with recordings %q", seed, want, got)
			}
			if err := differ([]logged{plain}, []logged{l}); err != nil {
				t.Errorf("seed %d, recorded after %d runs: %v", seed, from, err)
			}
			if len(r.all) > 0 {
				t.Errorf("seed %d leaves %d recordings", seed, len(r.all))
			}
		}
	}
}

// TestRecordedFaults checks that a driver which fails to record or to replay launches each kernel, and that a
// launch which fails has the same error and the same consequences with and without recordings.
func TestRecordedFaults(t *testing.T) {
	p := trained(t)
	for _, fault := range []int{0, 1, 40, 333, 1500} {
		for _, broken := range []string{"", "Record", "Replay"} {
			plain, r := newLogged(nil, 0), &recordings{}
			l := newLogged(r, 0)
			plain.fault, l.fault, l.broken = fault, fault, broken
			w := newWalk(t, plain, p, 5)
			want, _ := w.steps(t.Context(), 60)
			w.x.Close()
			w = newWalk(t, l, p, 5)
			got, _ := w.steps(t.Context(), 60)
			w.x.Close()
			if fault > 0 && !slices.ContainsFunc(want, func(e string) bool { return strings.Contains(e, "a fault") }) {
				t.Errorf("launch %d: the fault is not among the errors %q", fault, want)
			}
			if !slices.Equal(got, want) {
				t.Errorf("launch %d, %q fails: errors %q, want %q", fault, broken, got, want)
			}
			if err := differ([]logged{plain}, []logged{l}); err != nil {
				t.Errorf("launch %d, %q fails: %v", fault, broken, err)
			}
			if len(r.all) > 0 {
				t.Errorf("launch %d, %q fails: %d recordings are left", fault, broken, len(r.all))
			}
		}
	}
}
