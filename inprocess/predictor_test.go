package inprocess_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/bnctltest"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/fleet"
	"github.com/bnctl/bnctl/inprocess"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/predict"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// build returns a model of the zoo with new weights.
func build(t testing.TB, name string) *models.Model {
	t.Helper()
	m, err := models.Build(name, models.Options{})
	if err == nil {
		err = models.Init(m, 7)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// open returns a predictor that the test closes.
func open(t testing.TB, m *models.Model, o inprocess.Options) *inprocess.Predictor {
	t.Helper()
	p, err := inprocess.New(m, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// rows returns n random rows of the input of p.
func rows(p *inprocess.Predictor, n int, seed uint64) tensor.Tensor {
	in := p.Inputs()[0].Type
	x := tensor.New(in.DType, append([]int{n}, in.Shape...)...)
	draws := rand.New(rand.NewPCG(seed, 1))
	for i := range x.Count() {
		if x.DType == tensor.U8 {
			x.Bytes[i] = byte(draws.Uint32())
		} else {
			x.F32()[i] = float32(draws.NormFloat64())
		}
	}
	return x
}

// TestSameBitsAsProcesses checks that outputs have the bits of the device processes that the command
// uses, for every kernel class, for batches of any size and for any number of threads.
func TestSameBitsAsProcesses(t *testing.T) {
	for name, classes := range map[string][]string{"mlp-bn": {"fma", "generic"}, "lenet-bn": {"fma", "generic"},
		"resnet20": {"fma"}, "unet-bn": {"fma"}} {
		m := build(t, name)
		for _, kernels := range classes {
			w, err := predict.Open(t.Context(), m, predict.Options{Batch: 5, Fleet: fleet.Options{Kernels: kernels}})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			for _, o := range []inprocess.Options{{Threads: 1}, {Threads: 3, Batch: 2}, {}} {
				o.Kernels = kernels
				p := open(t, m, o)
				x := bnctltest.Inputs(p)[0]
				want, err := w.Predict(t.Context(), x)
				if err != nil {
					t.Fatal(err)
				}
				got, err := p.Run(t.Context(), x)
				if err != nil || len(got) != len(want) {
					t.Fatalf("%s: %d outputs, %v, want %d", name, len(got), err, len(want))
				}
				for i := range want {
					if !bytes.Equal(got[i].Bytes, want[i].Bytes) {
						t.Errorf("%s, %+v: output %d has other bits than a process", name, o, i)
					}
				}
			}
		}
	}
}

// TestLoadPathAndBytes checks that a path and the bytes of the file give the same model.
func TestLoadPathAndBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.bnm")
	if _, err := serialize.WriteModel(path, build(t, "lenet-bn")); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := inprocess.Load(path, inprocess.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	q, err := inprocess.Load(file, inprocess.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	clear(file) // the predictor has a copy
	a, errA := bnctltest.Sum(t.Context(), p)
	b, errB := bnctltest.Sum(t.Context(), q)
	if errA != nil || errB != nil || a != b {
		t.Errorf("path and bytes give other outputs: %v, %v", errA, errB)
	}
}

// TestRefusals checks that invalid sources, options and inputs give errors with the reason.
func TestRefusals(t *testing.T) {
	m := build(t, "lenet-bn")
	for _, c := range []struct {
		o    inprocess.Options
		want string
	}{
		{inprocess.Options{Threads: -1}, "want at least 1"},
		{inprocess.Options{Batch: -1}, "want at least 1"},
		{inprocess.Options{Memory: -1}, "want at least 1"},
		{inprocess.Options{Kernels: "fast"}, "do not run on this machine"},
		{inprocess.Options{Precision: "f16"}, "f16"},
		{inprocess.Options{Memory: 1000}, "out of memory"},
	} {
		if _, err := inprocess.New(m, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
	if _, err := inprocess.New(m, inprocess.Options{Memory: 1000}); !errors.Is(err, device.OutOfMemory) {
		t.Errorf("%v, want device.OutOfMemory", err)
	}
	if _, err := inprocess.Load([]byte("GGUF"), inprocess.Options{}); err == nil {
		t.Error("bytes of something else are read")
	}
	if _, err := inprocess.Load("missing.bnm", inprocess.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, want os.ErrNotExist", err)
	}
	var refused *problem.Error
	if _, err := inprocess.New(nil, inprocess.Options{}); !errors.As(err, &refused) {
		t.Errorf("%v, want a *problem.Error", err)
	}
	p := open(t, m, inprocess.Options{})
	for _, x := range []tensor.Tensor{{}, tensor.New(tensor.F32, 1, 28, 28, 1), tensor.New(tensor.U8, 28, 28, 1),
		tensor.New(tensor.U8, 0, 28, 28, 1), {DType: tensor.U8, Shape: []int{1, 28, 28, 1}}} {
		if _, err := p.Run(t.Context(), x); err == nil || !strings.Contains(err.Error(), "28,28,1") {
			t.Errorf("%v: %v, want the input of the model", x, err)
		}
	}
	if _, err := p.Run(t.Context()); err == nil {
		t.Error("a call without inputs is run")
	}
	if _, err := p.Predict(t.Context(), inprocess.Image{File: []byte("no picture")}); err == nil ||
		!strings.Contains(err.Error(), "image 0: ") {
		t.Errorf("%v, want an error of image 0", err)
	}
	if _, err := p.Predict(t.Context(), inprocess.Image{}); err == nil {
		t.Error("an empty image is predicted")
	}
}

// TestBatchFitsMemory checks that the default batch is smaller if the memory is not enough for 32 rows,
// and that Memory is then below the limit.
func TestBatchFitsMemory(t *testing.T) {
	m := build(t, "resnet20")
	whole := open(t, m, inprocess.Options{}).Memory()
	one := open(t, m, inprocess.Options{Batch: 1}).Memory()
	if one >= whole {
		t.Fatalf("%d bytes for a row, %d for 32", one, whole)
	}
	limit := (one + whole) / 2
	p := open(t, m, inprocess.Options{Memory: limit})
	if p.Memory() > limit {
		t.Errorf("%d bytes, at most %d are allowed", p.Memory(), limit)
	}
	if _, err := p.Run(t.Context(), rows(p, 40, 3)); err != nil {
		t.Error(err)
	}
	_, err := inprocess.New(m, inprocess.Options{Memory: limit, Batch: 32})
	if !errors.Is(err, device.OutOfMemory) {
		t.Errorf("%v, want device.OutOfMemory", err)
	}
}

// TestMemoryIsUpperBound checks that the heap grows by at most Memory, with one row and with the largest
// batch.
func TestMemoryIsUpperBound(t *testing.T) {
	for _, name := range []string{"mlp-bn", "lenet-bn", "resnet20", "unet-bn"} {
		m := build(t, name)
		for _, batch := range []int{1, 32} {
			before := heap()
			p, err := inprocess.New(m, inprocess.Options{Batch: batch, Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			x := rows(p, batch, 1)
			for range 2 {
				if _, err := p.Run(t.Context(), x); err != nil {
					t.Fatal(err)
				}
			}
			used := heap() - before - int64(len(x.Bytes))
			t.Logf("%s, batch %d: %d KiB of the heap, %d KiB at most", name, batch, used>>10, p.Memory()>>10)
			if used > p.Memory() {
				t.Errorf("%s, batch %d: %d bytes of the heap, more than Memory, %d", name, batch, used, p.Memory())
			}
			runtime.KeepAlive(x)
			_ = p.Close()
		}
		runtime.KeepAlive(m)
	}
}

// manyRows returns so many rows of zeros that a prediction needs many seconds.
func manyRows(p *inprocess.Predictor) tensor.Tensor {
	return tensor.New(tensor.U8, append([]int{20000}, p.Inputs()[0].Type.Shape...)...)
}

// TestContextEndsCall checks that the end of a context ends a call that waits for its turn, or is between
// two batches, with the cause of the context.
func TestContextEndsCall(t *testing.T) {
	p := open(t, build(t, "resnet20"), inprocess.Options{Batch: 1})
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := p.Run(ctx, rows(p, 1, 1)); err != cause {
		t.Errorf("%v, want %v", err, cause)
	}
	ctx, cancel = context.WithCancelCause(t.Context())
	x := manyRows(p)
	began := time.Now()
	time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
	if _, err := p.Run(ctx, x); err != cause {
		t.Errorf("%v, want %v", err, cause)
	}
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("the call ended after %v", d)
	}
	if _, err := p.Run(t.Context(), rows(p, 1, 1)); err != nil {
		t.Error(err)
	}
}

// TestCloseDuringRun checks that Close ends the calls of all goroutines, and that later calls fail.
func TestCloseDuringRun(t *testing.T) {
	p := open(t, build(t, "resnet20"), inprocess.Options{Batch: 1})
	var all sync.WaitGroup
	errs := make(chan error, 8)
	x := manyRows(p)
	for range cap(errs) {
		all.Go(func() {
			_, err := p.Run(context.Background(), x)
			errs <- err
		})
	}
	time.Sleep(20 * time.Millisecond)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	all.Wait()
	for range cap(errs) {
		if err := <-errs; !errors.Is(err, inprocess.ErrClosed) {
			t.Errorf("%v, want ErrClosed", err)
		}
	}
	if _, err := p.Run(t.Context(), rows(p, 1, 1)); !errors.Is(err, inprocess.ErrClosed) {
		t.Errorf("%v, want ErrClosed", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestManyGoroutines predicts with two models in many goroutines. All answers must be right, and the use of
// memory must not grow.
func TestManyGoroutines(t *testing.T) {
	goroutines, calls := 64, 1000
	if testing.Short() {
		goroutines, calls = 16, 50
	}
	ps := []*inprocess.Predictor{open(t, build(t, "mlp-bn"), inprocess.Options{}),
		open(t, build(t, "lenet-bn"), inprocess.Options{})}
	const inputs = 16
	var xs, want [2][inputs]tensor.Tensor
	for k, p := range ps {
		for i := range inputs {
			xs[k][i] = rows(p, 1+i%3, uint64(i))
			out, err := p.Run(t.Context(), xs[k][i])
			if err != nil {
				t.Fatal(err)
			}
			want[k][i] = out[0]
		}
	}
	round := func() {
		var all sync.WaitGroup
		for g := range goroutines {
			all.Go(func() {
				for n := range calls {
					k, i := 0, (g+n)%inputs
					if (g+n)%8 == 0 { // the calls of this model need more time
						k = 1
					}
					out, err := ps[k].Run(context.Background(), xs[k][i])
					if err != nil || !bytes.Equal(out[0].Bytes, want[k][i].Bytes) {
						t.Errorf("goroutine %d, call %d: another answer, %v", g, n, err)
						return
					}
				}
			})
		}
		all.Wait()
	}
	before := heap()
	round()
	after := heap()
	t.Logf("%d goroutines, %d calls each: heap %d KiB before, %d KiB after", goroutines, calls, before>>10, after>>10)
	if after > before+4<<20 {
		t.Errorf("the heap grew from %d to %d KiB", before>>10, after>>10)
	}
}

// heap returns the bytes in use after a garbage collection.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestNoGoroutineIsLeft checks that no goroutine is left after Close.
func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	m := build(t, "lenet-bn")
	for range 20 {
		p, err := inprocess.New(m, inprocess.Options{Threads: 4})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(t.Context(), rows(p, 8, 1)); err != nil {
			t.Error(err)
		}
		p.Close()
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before,
				stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(time.Millisecond)
	}
}
