package train

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// fate determines at which call devices die: at call number nth of the life of a device,
// counted from 0.
type fate struct {
	device    string
	life, nth int
	after     bool // the call has its effect, but its result is lost
	all       bool // all devices die, not only the one that is called
}

func (f fate) String() string {
	return fmt.Sprintf("%s, life %d, call %d, after %v, all %v", f.device, f.life, f.nth, f.after, f.all)
}

// stage is a group of devices with fates, and the calls on each.
type stage struct {
	mu     sync.Mutex
	fates  []fate
	lives  map[string]int
	alive  []*doomed
	called map[string][][]string // calls by device and life
	lost   int
}

func newStage(fates ...fate) *stage {
	return &stage{fates: fates, lives: map[string]int{}, called: map[string][][]string{}}
}

// open opens a device, which is its first call.
func (s *stage) open(ctx context.Context, name string) (device.Device, error) {
	inner, err := ref.Provider{}.Open(ctx, device.DefaultID, device.Options{})
	if err != nil {
		return nil, err
	}
	d := &doomed{Device: inner, name: name, stage: s}
	s.mu.Lock()
	d.life = s.lives[name]
	s.lives[name]++
	s.called[name] = append(s.called[name], nil)
	s.alive = append(s.alive, d)
	s.mu.Unlock()
	return d, d.call("Open", func() error { return nil })
}

// doomed is a device that may die at any call.
type doomed struct {
	device.Device
	name  string
	life  int
	stage *stage
	dead  bool // guarded by the lock of the stage
}

// call makes a call of the device, unless the device dies before it or has died.
func (d *doomed) call(what string, f func() error) error {
	s := d.stage
	s.mu.Lock()
	nth := len(s.called[d.name][d.life])
	s.called[d.name][d.life] = append(s.called[d.name][d.life], what)
	i := slices.IndexFunc(s.fates, func(f fate) bool {
		return f.device == d.name && f.life == d.life && f.nth == nth
	})
	if i >= 0 && !s.fates[i].after {
		s.strike(d, s.fates[i].all)
	}
	dead := d.dead
	s.mu.Unlock()
	if dead {
		return d.gone()
	}
	err := f()
	s.mu.Lock()
	defer s.mu.Unlock()
	if i >= 0 && s.fates[i].after {
		s.strike(d, s.fates[i].all)
	}
	if d.dead {
		return d.gone()
	}
	return err
}

// strike ends a device, or all.
func (s *stage) strike(d *doomed, all bool) {
	for _, x := range s.alive {
		if !x.dead && (all || x == d) {
			x.dead = true
			s.lost++
			go x.Device.Close() // ends the call that is under way
		}
	}
}

func (d *doomed) gone() error { return device.Errorf(d.name, "", device.Lost, "killed") }

func (d *doomed) Load(ctx context.Context, p *graph.Program, c device.Capacity) (
	exe device.Executable, err error) {
	err = d.call("Load", func() error {
		exe, err = d.Device.Load(ctx, p, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &doomedExe{exe, d}, nil
}

func (d *doomed) Join(ctx context.Context, g device.Group) error {
	return d.call("Join", func() error { return d.Device.Join(ctx, g) })
}

func (d *doomed) Close() error { return d.call("Close", d.Device.Close) }

type doomedExe struct {
	device.Executable
	d *doomed
}

func (e *doomedExe) Grow(ctx context.Context, c device.Capacity) error {
	return e.d.call("Grow", func() error { return e.Executable.Grow(ctx, c) })
}

func (e *doomedExe) Write(ctx context.Context, name string, t tensor.Tensor) error {
	return e.d.call("Write", func() error { return e.Executable.Write(ctx, name, t) })
}

func (e *doomedExe) WriteAll(ctx context.Context, names []string, state map[string]tensor.Tensor) error {
	return device.WriteEach(ctx, e, names, state)
}

func (e *doomedExe) Read(ctx context.Context, name string) (t tensor.Tensor, err error) {
	err = e.d.call("Read", func() error {
		t, err = e.Executable.Read(ctx, name)
		return err
	})
	return t, err
}

// Run is slower on the first device, so that replicas move.
func (e *doomedExe) Run(ctx context.Context, s device.Step) (o device.Outcome, err error) {
	err = e.d.call("Run "+s.Function, func() error {
		o, err = e.Executable.Run(ctx, s)
		return err
	})
	o.Blocked, o.Took = 0, time.Duration(len(s.Rows))*time.Second
	if e.d.name == "0" {
		o.Took *= 3
	}
	return o, err
}

func (e *doomedExe) Commit(ctx context.Context, v device.Version, h device.Hyper) error {
	return e.d.call("Commit", func() error { return e.Executable.Commit(ctx, v, h) })
}

func (e *doomedExe) Close() error { return e.d.call("Unload", e.Executable.Close) }

// drama trains on devices that the stage kills. It returns the sum of the template. It uses synctest, so
// that pauses need no time.
func (b *bench) drama(t *testing.T, s *stage, devices int) (sum string) {
	synctest.Test(t, func(t *testing.T) {
		in := *b
		in.t = t
		c := in.config(0)
		c.Workers, c.Reopen, c.CheckpointEvery = 1, s.open, 100
		for i := range devices {
			d, err := s.open(context.Background(), fmt.Sprint(i))
			if err != nil { // open the device again, as the run does
				d, err = s.open(context.Background(), fmt.Sprint(i))
			}
			if err != nil {
				t.Fatal(err)
			}
			c.Devices = append(c.Devices, parallel.Member{Name: fmt.Sprint(i), Device: d})
		}
		run, err := New(context.Background(), &in.recipe, in.model(), c)
		if err != nil {
			t.Error(err)
			return
		}
		m, err := run.Run(context.Background())
		if err == nil {
			sum, err = serialize.WriteModel(filepath.Join(t.TempDir(), "m.bnm"), m)
		}
		if err = errors.Join(err, run.Close()); err != nil {
			t.Error(err)
		}
		for _, m := range c.Devices {
			if err := m.Device.Close(); err != nil && !errors.Is(err, device.Lost) {
				t.Error(err)
			}
		}
	})
	return sum
}

// places returns indices of calls of a life. For each pair of successive calls, for example Join
// after Write, it returns the first and the last index of the second call.
func places(calls []string) []int {
	first, last, before := map[string]int{}, map[string]int{}, ""
	for i, c := range calls {
		kind := before + ", " + c
		if _, ok := first[kind]; !ok {
			first[kind] = i
		}
		last[kind], before = i, c
	}
	var out []int
	for kind := range first {
		out = append(out, first[kind], last[kind])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// fatesOf returns all single fates that are possible in a life of each device of an undisturbed stage.
func (s *stage) fatesOf(life int) (out []fate) {
	for _, name := range slices.Sorted(maps.Keys(s.called)) {
		for _, nth := range places(s.called[name][life]) {
			for _, after := range []bool{false, true} {
				out = append(out, fate{name, life, nth, after, false})
				if len(s.called) > 1 {
					out = append(out, fate{name, life, nth, after, true})
				}
			}
		}
	}
	return out
}

// stride returns n, so that the test tries every n-th fate. For each way of keeping weights it begins
// with another fate. The first fate of each kind of call is tried in any case. make chaos tries all.
func stride() int {
	switch {
	case os.Getenv("BNCTL_CHAOS") == "full":
		return 1
	case underRace:
		return 61
	case testing.Short():
		return 23
	}
	return 7
}

// survives trains once for each fate in fates. In each run the fates in before apply, too. It
// compares the templates with want. peace has the calls of an undisturbed run. survives adds the
// calls at which devices died to struck.
func (b *bench) survives(want string, peace *stage, before []fate, fates []fate, struck *[]string) {
	b.t.Helper()
	for i, f := range fates {
		calls := peace.called[f.device][f.life]
		if i%stride() != len(b.t.Name())%stride() && slices.Contains(*struck, calls[f.nth]) {
			continue
		}
		s := newStage(append(slices.Clone(before), f)...)
		got := b.drama(b.t, s, len(peace.called))
		if got != want {
			b.t.Errorf("%v (%s after %s): template %q, undisturbed %q", f, calls[f.nth], calls[max(f.nth-1, 0)],
				got, want)
		}
		if s.lost < len(before)+1 {
			b.t.Errorf("%v: %d devices were lost", f, s.lost)
		}
		*struck = append(*struck, calls[f.nth])
	}
}

// TestKilledAtEveryCall kills a device, or all of them, before and after every kind of call, the first and
// the last time that it is made. It does so in every way of keeping weights and statistics. The template
// must equal the template of an undisturbed run.
func TestKilledAtEveryCall(t *testing.T) {
	var struck []string
	for name, change := range map[string]func(*recipe.Recipe){
		"allreduce, sync":    func(*recipe.Recipe) {},
		"allreduce, replica": func(r *recipe.Recipe) { r.BN = bn.Replica },
		"template, sync":     func(r *recipe.Recipe) { r.WeightSync = weightsync.Template },
		"template, replica":  func(r *recipe.Recipe) { r.BN, r.WeightSync = bn.Replica, weightsync.Template },
		"async":              func(r *recipe.Recipe) { r.BN, r.WeightSync = bn.Replica, "async:2" },
		"async, few rows":    func(r *recipe.Recipe) { r.BN, r.WeightSync, r.BNMin = bn.Replica, "async:1", "running" },
		"periodic":           func(r *recipe.Recipe) { r.BN, r.WeightSync = bn.Replica, "periodic:3" },
		"averaged, precise":  func(r *recipe.Recipe) { r.EMA, r.EMAWarmup, r.BNPrecise = 0.9, true, 20 },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 20)
			b.recipe.Epochs, b.recipe.Batch = 2, 10
			change(&b.recipe)
			alone := newStage()
			want := b.drama(t, alone, 1)
			b.survives(want, alone, nil, alone.fatesOf(0), &struck)
			once := alone.fatesOf(0)
			first := once[len(once)*3/4]
			back := newStage(first) // for the calls on a device that was reopened
			b.drama(t, back, 1)
			b.survives(want, back, []fate{first}, back.fatesOf(1), &struck)
			both := newStage()
			if got := b.drama(t, both, 2); got != want {
				t.Fatalf("two devices give template %s, one %s", got, want)
			}
			b.survives(want, both, nil, both.fatesOf(0), &struck)
		})
	}
	for _, call := range []string{"Open", "Load", "Join", "Write", "Read", "Run train", "Run predict",
		"Run estimate", "Commit", "Grow", "Unload", "Close"} {
		if !slices.Contains(struck, call) {
			t.Errorf("no device was killed at %s", call)
		}
	}
	t.Logf("%d runs", len(struck))
}
