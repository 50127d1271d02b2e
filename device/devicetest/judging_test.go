package devicetest_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/devicetest"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/graph"
)

// retagged is an Exchanger that changes the tags of a device's exchanges.
type retagged struct {
	collective.Exchanger
	change func(*collective.Tag)
}

func (r retagged) Start(ctx context.Context, tag collective.Tag, values []collective.Reduction) func() error {
	r.change(&tag)
	return r.Exchanger.Start(ctx, tag, values)
}

// retags returns a device with changed tags of exchanges.
func retags(change func(*collective.Tag)) *sick {
	return &sick{Device: ref.New("sick"), join: func(g device.Group) device.Group {
		if g.Exchange != nil {
			g.Exchange = retagged{g.Exchange, change}
		}
		return g
	}}
}

// TestJudgeFindsExchangesThatAreNotDue checks that a case finds exchanges in the wrong order, and
// that the broken rule is the rule about tags.
func TestJudgeFindsExchangesThatAreNotDue(t *testing.T) {
	for name, f := range map[string]struct {
		change func(*collective.Tag)
		says   string
	}{
		"the sequence counts both lanes": {func(tag *collective.Tag) {
			tag.Sequence = 2*tag.Sequence + uint64(tag.Lane)
		}, "Lane:1 Sequence:1 Name:first.last0}; due is {Generation:41 Step:17 Lane:1 Sequence:0"},
		"the third one has another sequence": {func(tag *collective.Tag) {
			if tag.Sequence == 2 {
				tag.Sequence = 3
			}
		}, "Lane:0 Sequence:3 Name:first.read2}; due is {Generation:41 Step:17 Lane:0 Sequence:2"},
		"all in one lane": {func(tag *collective.Tag) { tag.Lane = collective.Moments },
			"Lane:0 Sequence:0 Name:first.last0}; due is {Generation:41 Step:17 Lane:0 Sequence:1 Name:first.read1"},
		"a lane that there is not": {func(tag *collective.Tag) { tag.Lane = 2 }, "none is due in that lane"},
	} {
		r := caseNamed(t, "exchange: each in its turn").Judge(t.Context(),
			func(context.Context, string) (device.Device, error) { return retags(f.change), nil }, device.F32)
		if r.Err == nil || !strings.Contains(r.Err.Error(), f.says) || !strings.Contains(r.Rule(), "same tags") {
			t.Errorf("%s: %v (rule: %s), want an error with %q", name, r.Err, r.Rule(), f.says)
		}
	}
}

// runsAs returns an opener of devices that call run in place of Run.
func runsAs(run func(ctx context.Context) error) devicetest.Opener {
	return func(ctx context.Context, precision string) (device.Device, error) {
		d, err := ref.Provider{}.Open(ctx, device.DefaultID, device.Options{Precision: precision})
		return &sick{Device: d, x: sickExecutable{
			run: func(ctx context.Context, _ device.Executable, _ device.Step) (device.Outcome, error) {
				return device.Outcome{}, run(ctx)
			}}}, err
	}
}

// TestThreeLossesEndAJudgement checks that the error for a device that hangs names the call, and that
// three cases with this error end the judgement.
func TestThreeLossesEndAJudgement(t *testing.T) {
	ctx := devicetest.WithPatience(t.Context(), 400*time.Millisecond)
	began := time.Now()
	told := 0
	ctx = devicetest.WithProgress(ctx, func(_ devicetest.Case, before, all int) { told++ })
	r, err := devicetest.Judge(ctx, runsAs(func(ctx context.Context) error {
		<-ctx.Done()
		return device.Errorf("sick", "Run", device.Canceled, "%w", ctx.Err())
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
	failed := r.Failed()
	if len(failed) != 3 || !strings.HasPrefix(r.Stopped, "the device was lost in 3") || told != len(r.Results) {
		t.Fatalf("%d faults of %d cases, %d told, stopped: %q", len(failed), len(r.Results), told, r.Stopped)
	}
	for _, f := range failed {
		if !strings.Contains(f.Err.Error(), "was not answered in") || !strings.HasPrefix(f.Rule(), "Every call") {
			t.Errorf("%s: %v, rule: %s", f.Case.Name, f.Err, f.Rule())
		}
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestRuleOfALostDevice checks that a lost device breaks the rule about lost devices in any case.
func TestRuleOfALostDevice(t *testing.T) {
	lost := runsAs(func(context.Context) error { return device.Errorf("sick", "Run", device.Lost, "it died") })
	r := caseNamed(t, "conv: 3x3").Judge(t.Context(), lost, device.F32)
	if r.Err == nil || !strings.HasPrefix(r.Rule(), "A process that dies") {
		t.Errorf("%v, rule: %s", r.Err, r.Rule())
	}
}

// TestDeviceThatDoesNotOpenAgain checks that a device that cannot be opened again breaks the rule about
// starts, and that three cases with this result end the judgement.
func TestDeviceThatDoesNotOpenAgain(t *testing.T) {
	opened := 0
	r, err := devicetest.Judge(t.Context(), func(ctx context.Context, precision string) (device.Device, error) {
		if opened++; opened > 4 {
			return nil, device.Errorf("sick", "start", device.Unavailable, "it describes itself as another")
		}
		return ref.Provider{}.Open(ctx, device.DefaultID, device.Options{Precision: precision})
	}, nil)
	failed := r.Failed()
	if err != nil || len(failed) != 3 || r.Stopped == "" {
		t.Fatalf("%v, %d faults, stopped: %q", err, len(failed), r.Stopped)
	}
	for _, f := range failed {
		if !strings.HasPrefix(f.Rule(), "Every start of a plugin") {
			t.Errorf("%s: %v, rule: %s", f.Case.Name, f.Err, f.Rule())
		}
	}
}

// TestALossIsNoKindOfMistake tests a device that is lost when the caller makes a mistake. The contract
// requires another error for the mistake, so the device breaks the rule about lost devices.
func TestALossIsNoKindOfMistake(t *testing.T) {
	lost := runsAs(func(context.Context) error { return device.Errorf("sick", "Run", device.Lost, "it died") })
	for _, name := range []string{"run: mistakes", "run: labels that are no classes"} {
		r := caseNamed(t, name).Judge(t.Context(), lost, device.F32)
		if !errors.Is(r.Err, device.Lost) || !strings.HasPrefix(r.Rule(), "A process that dies") {
			t.Errorf("%s: %v, rule: %s", name, r.Err, r.Rule())
		}
	}
}

// TestInterruptedJudgement checks that an interrupted judgement reports no fault of the device.
func TestInterruptedJudgement(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	open := runsAs(func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return device.Errorf("sick", "Run", device.Lost, "%w", ctx.Err())
	})
	r, err := devicetest.Judge(ctx, open, func(r devicetest.Result) {
		if r.Err != nil {
			t.Errorf("told of %s: %v", r.Case.Name, r.Err)
		}
	})
	if !errors.Is(err, context.Canceled) || len(r.Failed()) > 0 {
		t.Errorf("%v, with %d faults", err, len(r.Failed()))
	}
}

// TestOneDeviceServesManyCases checks that one opened device serves many cases, and that a missing
// operation is tested once.
func TestOneDeviceServesManyCases(t *testing.T) {
	var opened atomic.Int64
	cases := slices.DeleteFunc(devicetest.Cases(), func(c devicetest.Case) bool {
		return !slices.Equal(c.Ops, []graph.Op{graph.Relu}) && !slices.Equal(c.Ops, []graph.Op{graph.LARS})
	})
	r, err := devicetest.JudgeSome(t.Context(), func(context.Context, string) (device.Device, error) {
		opened.Add(1)
		return ref.New("ref", graph.LARS), nil
	}, cases, nil)
	if err != nil || len(r.Failed()) > 0 {
		t.Fatal(err, r.Failed())
	}
	refusals := 0
	for _, x := range r.Results {
		refusals += len(x.Lacks)
	}
	if n := opened.Load(); n > 2 || refusals != 1 || len(r.Results) < 3 {
		t.Errorf("%d devices were opened for %d cases, %d of them refusals", n, len(r.Results), refusals)
	}
}

// residing is a device that reports this process as its process.
type residing struct{ sick }

func (d *residing) Info() device.Info {
	i := d.Device.Info()
	i.Process = os.Getpid()
	return i
}

func TestJudgeFindsWhatCallsKeep(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("memory of processes is looked at on Linux")
	}
	for _, keeps := range []int{0, 16 << 20} {
		var kept [][]byte
		d := func() device.Device {
			return &residing{sick{Device: ref.New("sick"), x: sickExecutable{
				run: func(ctx context.Context, x device.Executable, s device.Step) (device.Outcome, error) {
					b := make([]byte, keeps)
					for i := 0; i < len(b); i += 4096 {
						b[i] = 1
					}
					kept = append(kept, b)
					return x.Run(ctx, s)
				}}}}
		}
		cases := []devicetest.Case{caseNamed(t, "memory: calls keep nothing"), caseNamed(t, "load: new state")}
		r, err := devicetest.JudgeSome(t.Context(),
			func(context.Context, string) (device.Device, error) { return d(), nil }, cases, nil)
		if err != nil {
			t.Fatal(err)
		}
		failed := r.Failed()
		found := len(failed) == 1 && strings.Contains(failed[0].Err.Error(), "MB of every call") &&
			strings.HasPrefix(r.Stopped, "the process keeps memory of every call, and 1 of 2 cases")
		if keeps == 0 && (len(failed) > 0 || r.Stopped != "") || keeps > 0 && !found {
			t.Errorf("%d bytes kept of every run: %v, stopped: %q", keeps, failed, r.Stopped)
		}
	}
}
