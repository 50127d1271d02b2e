package serve

import (
	"context"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/bnctl/bnctl/device"
	pb "github.com/bnctl/bnctl/device/internal/devicepb"
	"github.com/bnctl/bnctl/device/internal/wire"
	"github.com/bnctl/bnctl/tensor"
)

// TestNoCollectionInACall makes runs that leave garbage. It must be collected, but
// never during a run.
func TestNoCollectionInACall(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	runtime.GC()
	before, w := collections(), &wasteful{}
	s := newSession(context.Background(), nil, &runs{left: 400}, &calls{})
	s.executables[1] = w
	if err := s.serve(); err != nil {
		t.Fatal(err)
	}
	if w.during != 0 || collections() == before {
		t.Errorf("%d collections in 400 runs and %d in all, want none and some", w.during, collections()-before)
	}
}

// TestLittleGarbage checks that the garbage of a device does not grow with its weights.
func TestLittleGarbage(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	held := make([]byte, 128<<20) // live memory, like weights
	runtime.GC()
	w := &wasteful{}
	s := newSession(context.Background(), nil, &runs{left: 200}, &calls{})
	s.executables[1] = w
	if err := s.serve(); err != nil {
		t.Fatal(err)
	}
	if w.most > 2*maxGarbage {
		t.Errorf("%d MiB of garbage, beside %d that are held", w.most>>20, len(held)>>20)
	}
	runtime.KeepAlive(held)
}

// TestNoCollectionAfterTheLastRun checks that no garbage is collected after a run with Step.Last, because
// the host is about to end the process.
func TestNoCollectionAfterTheLastRun(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // only the session collects
	before, w := collections(), &wasteful{}
	s := newSession(context.Background(), nil, &runs{left: 100, last: true}, &calls{})
	s.executables[1] = w
	if err := s.serve(); err != nil {
		t.Fatal(err)
	}
	if n := collections() - before; n != 0 || w.most < 2*maxGarbage {
		t.Errorf("%d collections, up to %d KiB of garbage; want none, and more than there is else", n, w.most>>10)
	}
}

// TestWhatIsLoadedIsNoGarbage checks that before the first collection, memory that was allocated by
// loading a program counts as live, and memory that was allocated by runs and commits does not.
func TestWhatIsLoadedIsNoGarbage(t *testing.T) {
	const goal = 64 << 20
	g := newGarbage()
	for i, c := range []struct {
		used, live uint64
		loads      bool
		want       bool
	}{
		{30 << 20, 0, true, false}, {33 << 20, 0, false, false}, {35 << 20, 0, false, true},
		{31 << 20, 30 << 20, false, false}, {50 << 20, 30 << 20, true, true}, // live is known
		{40 << 20, 39 << 20, false, false},
	} {
		if got := g.exceedsLimit(c.used, c.live, goal, c.loads); got != c.want {
			t.Errorf("call %d, %+v: collects %v", i, c, got)
		}
	}
	if g = newGarbage(); !g.exceedsLimit(5<<20, 0, goal, false) || !g.exceedsLimit(3<<20, 0, 4<<20, false) {
		t.Error("nothing was loaded, and garbage is left")
	}
}

// collections counts the collections of this process.
func collections() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumGC
}

// wasteful is an executable that produces garbage in each run.
type wasteful struct {
	device.Executable
	during  uint32 // collections during its runs
	most    int64  // largest number of bytes of garbage
	garbage []byte
}

func (w *wasteful) Run(context.Context, device.Step) (device.Outcome, error) {
	before := collections()
	for range 64 {
		w.garbage = make([]byte, 4<<10)
	}
	w.during += collections() - before
	is := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(is)
	w.most = max(w.most, int64(is[0].Value.Uint64())-int64(is[1].Value.Uint64()))
	return device.Outcome{}, nil
}

// runs is a connection to a host that requests a number of runs, and then hangs up.
type runs struct {
	left int
	last bool // whether each run has Last set
}

func (r *runs) Recv(wire.Allocator) (*pb.Message, []tensor.Tensor, error) {
	if r.left == 0 {
		return nil, nil, io.EOF
	}
	r.left--
	return &pb.Message{Body: &pb.Message_Run{Run: &pb.Run{Executable: 1, Last: r.last}}}, nil, nil
}

func (r *runs) Send(*pb.Message, []tensor.Tensor) error { return nil }

func (r *runs) Close() error { return nil }
