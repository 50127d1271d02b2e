package remote_test

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/tensor"
)

// doubler loads a program with a predict function that doubles its rows. It returns the
// device and the executable.
func doubler(t *testing.T, role, level string) (device.Device, device.Executable) {
	t.Helper()
	p, err := graph.ParseProgram([]byte("bnctl program 1\nprogram \"p\"\n\n" +
		"func predict(x rows f32[3]) {\n  y = add(x, x)\n  return y: rows = y\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	d := open(t, start(t, role, level))
	if !d.Info().Has(device.Ahead) {
		t.Errorf("%s at %s does not take runs ahead", role, level)
	}
	return d, load(t, d, p)
}

// double runs x on one row with the value v.
func double(ctx context.Context, x device.Executable, v float32) (float32, error) {
	in := tensor.Of([]float32{v, v, v}, 1, 3)
	o, err := x.Run(ctx, device.Step{Function: graph.Predict, Rows: []int{1}, Inputs: []tensor.Tensor{in}})
	if err != nil {
		return 0, err
	}
	return o.Outputs[0].F32()[2], nil
}

// TestRunsAhead makes many runs at once and checks that each gets its result.
func TestRunsAhead(t *testing.T) {
	for _, role := range []string{"ref", "cpu"} {
		for _, level := range levels {
			_, x := doubler(t, role, level)
			var all sync.WaitGroup
			for k := range 4 {
				all.Go(func() {
					for i := range 100 {
						v := float32(1000*k + i)
						if got, err := double(t.Context(), x, v); err != nil || got != 2*v {
							t.Errorf("%s at %s: twice %v is %v, %v", role, level, v, got, err)
							return
						}
					}
				})
			}
			all.Wait()
		}
	}
}

// TestRunsAheadOfAStoppedPlugin has two runs in progress on a stopped device. After the
// device continues, both are answered, although the second was cancelled. After it dies,
// both return an error, and so does the next call.
func TestRunsAheadOfAStoppedPlugin(t *testing.T) {
	for _, level := range levels {
		for _, sends := range []syscall.Signal{syscall.SIGCONT, syscall.SIGKILL} {
			d, x := doubler(t, "ref", level)
			if _, err := double(t.Context(), x, 1); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(d.Info().Process, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			for state := ""; state != "T"; state, _ = status(d.Info().Process) {
				time.Sleep(time.Millisecond)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var got [2]float32
			var errs [2]error
			var all sync.WaitGroup
			all.Go(func() { got[0], errs[0] = double(t.Context(), x, 5) })
			time.Sleep(20 * time.Millisecond)
			all.Go(func() { got[1], errs[1] = double(ctx, x, 7) })
			time.Sleep(20 * time.Millisecond)
			cancel()
			time.Sleep(20 * time.Millisecond)
			if err := syscall.Kill(d.Info().Process, sends); err != nil {
				t.Fatal(err)
			}
			all.Wait()
			if sends == syscall.SIGKILL {
				_, next := double(t.Context(), x, 9)
				for _, err := range append(errs[:], next) {
					if !errors.Is(err, device.Lost) && !errors.Is(err, device.Canceled) {
						t.Errorf("at %s, killed: %v", level, err)
					}
				}
				if !errors.Is(errs[0], device.Lost) || !errors.Is(next, device.Lost) {
					t.Errorf("at %s, killed: %v, then %v; want lost", level, errs[0], next)
				}
				continue
			}
			if errs[0] != nil || got[0] != 10 {
				t.Errorf("at %s: the first run is %v, %v", level, got[0], errs[0])
			}
			if errs[1] != nil && !errors.Is(errs[1], device.Canceled) || errs[1] == nil && got[1] != 14 {
				t.Errorf("at %s: the second run is %v, %v", level, got[1], errs[1])
			}
			if again, err := double(t.Context(), x, 9); err != nil || again != 18 {
				t.Errorf("at %s, afterwards: %v, %v", level, again, err)
			}
		}
	}
}
