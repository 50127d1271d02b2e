package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/ref"
	"github.com/bnctl/bnctl/device/remote"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/train"
)

// small is a network where a step costs nearly nothing.
const small = `bnctl graph 1
graph "small"
state conv.weight f32[4,1,3,3] weight he_normal(0)
state bn.weight f32[4] gamma ones
state bn.bias f32[4] beta zeros
state bn.running_mean f32[4] mean zeros
state bn.running_var f32[4] variance ones
state fc.weight f32[10,196] weight he_normal(0)
state fc.bias f32[10] bias zeros
func main(x rows u8[28,28,1]) {
  image = image(x, mean=[0.1307], std=[0.3081])
  conv = conv(image, @conv.weight, stride=[4,4])
  bn = batch_norm(conv, @bn.weight, @bn.bias, @bn.running_mean, @bn.running_var)
  relu = relu(bn)
  flat = reshape(relu, shape=[196])
  fc = dense(flat, @fc.weight, @fc.bias)
  return logits rows = fc
}
`

// TestNothingGrows trains, and compares resources at two steps of the run: goroutines and heap of the host,
// and open files and threads of the host and of its devices' processes. With BNCTL_LEAK=full, as in make
// leak, it makes 10,000 steps, and also compares the memory of the processes. In a short run on a busy
// machine this memory means little.
func TestNothingGrows(t *testing.T) {
	first, last, full := 50, 200, os.Getenv("BNCTL_LEAK") == "full"
	if full {
		first, last = 1000, 10000
	}
	for _, c := range []struct {
		name   string
		ref    bool // with a device in the host's process, in addition to two devices in processes
		change func(*recipe.Recipe)
	}{
		{"two CPU devices", false, func(*recipe.Recipe) {}},
		{"two CPU devices and ref", true, func(*recipe.Recipe) {}},
		{"replicas on their own", true, func(r *recipe.Recipe) { r.BN, r.WeightSync = bn.Replica, "periodic:4" }},
		{"replicas that are late", false, func(r *recipe.Recipe) {
			r.BN, r.WeightSync, r.BNUpdate = bn.Replica, "async:2", "async:2"
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			early, late := grown(t, c.ref, c.change, first, last)
			for i, e := range early {
				l := late[i]
				t.Logf("%s at step %d: %v; at step %d: %v", e.name, first, e, last, l)
				if l.goroutines > e.goroutines+2 || l.files > e.files+2 || l.threads > e.threads+4 {
					t.Errorf("%s has grown from %v to %v", e.name, e, l)
				}
				if l.heap > e.heap+e.heap/4+2<<20 || full && l.resident > e.resident+e.resident/10+8<<20 {
					t.Errorf("%s has grown from %v to %v", e.name, e, l)
				}
			}
		})
	}
}

// footprint has the resources that a process uses.
type footprint struct {
	name           string
	goroutines     int // number of goroutines of the host; 0 for other processes
	files, threads int
	heap, resident int // bytes; heap only for the host
}

func (f footprint) String() string {
	host := ""
	if f.goroutines > 0 {
		host = fmt.Sprintf("%d goroutines, %.2f MiB of heap, ", f.goroutines, float64(f.heap)/(1<<20))
	}
	return fmt.Sprintf("%s%d files, %d threads, %.1f MiB resident", host, f.files, f.threads,
		float64(f.resident)/(1<<20))
}

// grown trains up to the step last, and returns the footprints of host and devices at the steps first and
// last.
func grown(t *testing.T, withRef bool, change func(*recipe.Recipe), first, last int) (
	early, late []footprint) {
	t.Helper()
	ctx := context.Background()
	src, err := data.Open(ctx, "glyphs:400", data.Options{Split: data.Train})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	members := leakMembers(t, withRef)
	r := &recipe.Recipe{Release: "test", Model: "small", Init: "seed",
		Data: recipe.Data{Kind: "glyphs", Samples: 400, Classes: 10}, Steps: last, Batch: 16, Replicas: 4,
		Accumulate: 1, Tail: parallel.Keep, BN: bn.Sync, BNStats: bn.Pooled,
		BNUpdate: bn.EveryStep, BNMin: "refuse", WeightSync: weightsync.AllReduce,
		Optimizer: "sgd", LR: 0.01, Momentum: 0.9, Schedule: "constant", Precision: "f32", Save: "last",
		EvalEvery: 1}
	change(r)
	g, err := graph.ParseGraph([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := models.Init(m, 1); err != nil {
		t.Fatal(err)
	}
	reopen := func(context.Context, string) (device.Device, error) { return nil, os.ErrNotExist }
	s, err := train.New(ctx, r, m, train.Config{Train: src, Validation: src, Devices: members, Workers: 1,
		LogEvery: 1, Rendezvous: remote.Rendezvous{}, Reopen: reopen,
		Checkpoint: filepath.Join(t.TempDir(), "run.bnc"), Events: func(e train.Event) {
			switch s, ok := e.(train.Stepped); {
			case ok && s.Step == first:
				early = footprints(t, members)
			case ok && s.Step == last:
				late = footprints(t, members)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return early, late
}

func leakMembers(t *testing.T, withRef bool) []parallel.Member {
	t.Helper()
	ctx := context.Background()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := remote.Start(ctx, remote.Command{Name: "cpu", Path: self, Args: []string{"serve-device", "cpu"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	var members []parallel.Member
	add := func(d device.Device, err error, name string) {
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		members = append(members, parallel.Member{Name: name, Device: d})
	}
	for i := range 2 {
		name := fmt.Sprintf("cpu:%d", i)
		d, err := p.OpenAs(ctx, name, device.DefaultID, device.Options{Threads: 1})
		add(d, err, name)
	}
	if withRef {
		d, err := ref.Provider{}.Open(ctx, device.DefaultID, device.Options{})
		add(d, err, "ref")
	}
	return members
}

// footprints returns the footprints of the host and of every process of a device.
func footprints(t *testing.T, members []parallel.Member) []footprint {
	t.Helper()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	host := footprintOf(t, "the host", os.Getpid())
	host.goroutines, host.heap = runtime.NumGoroutine(), int(stats.HeapAlloc)
	all := []footprint{host}
	for _, m := range members {
		if pid := m.Device.Info().Process; pid != 0 {
			all = append(all, footprintOf(t, m.Name, pid))
		}
	}
	return all
}

func footprintOf(t *testing.T, name string, pid int) footprint {
	t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	f := footprint{name: name, files: len(files)}
	for line := range strings.Lines(string(status)) {
		key, text, _ := strings.Cut(line, ":")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		n, _ := strconv.Atoi(fields[0]) // lines without a number are not used
		switch key {
		case "Threads":
			f.threads = n
		case "VmRSS":
			f.resident = n << 10
		}
	}
	return f
}
