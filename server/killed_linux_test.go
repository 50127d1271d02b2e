package server

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bnctl/bnctl/tensor"
)

// children returns the child processes of this process, which are its devices.
func children(t *testing.T) (pids []int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		var pid, parent int
		var state string
		_, rest, _ := strings.Cut(string(stat), ") ")
		if _, err := fmt.Sscan(rest, &state, &parent); err != nil || parent != os.Getpid() || state == "Z" {
			continue
		}
		if _, err := fmt.Sscan(e.Name(), &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestADeviceIsKilled sends requests of random sizes at random times, and kills a device while they are
// computed. Every request must be answered, with the same bits as package predict. BNCTL_SERVE=full makes a
// thousand rounds.
func TestADeviceIsKilled(t *testing.T) {
	rounds := 6
	if os.Getenv("BNCTL_SERVE") == "full" {
		rounds = 1000
	}
	m := newModel(t, 1)
	path := write(t, m, "m.bnm")
	inputs, answers := make([]tensor.Tensor, 30), make([][]byte, 30)
	t.Run("predict", func(t *testing.T) { // closes its device before the test kills devices
		p := predictor(t, m, "cpu")
		for i := range inputs {
			inputs[i] = pictures(rand.New(rand.NewPCG(uint64(i), 9)), 1+i%9)
			answers[i] = predicted(t, p, inputs[i])
		}
	})
	for devices, rounds := range map[string]int{"cpu": rounds / 2, "2xcpu": rounds - rounds/2} {
		o := on(devices, path)
		var back atomic.Int64
		o.Note = func(format string, args ...any) {
			if strings.HasSuffix(format, "now uses %s") {
				back.Add(1)
			}
		}
		s := start(t, o)
		for round := range rounds {
			draw := rand.New(rand.NewPCG(uint64(round), 9))
			var all sync.WaitGroup
			for range 1 + draw.IntN(12) {
				i, pause := draw.IntN(len(inputs)), time.Duration(draw.IntN(3000))*time.Microsecond
				all.Go(func() {
					time.Sleep(pause)
					r := ask(t, s, "POST", "/v2/models/m/infer", jsonRequest(inputs[i]))
					if r.status != 200 || !bytes.Equal(inJSON(t, r.body), answers[i]) {
						t.Errorf("%s, round %d: %d, or other bits", devices, round, r.status)
					}
				})
			}
			time.Sleep(time.Duration(draw.IntN(2500)) * time.Microsecond)
			pids := children(t)
			if len(pids) > 0 && round%2 == 0 {
				_ = syscall.Kill(pids[draw.IntN(len(pids))], syscall.SIGKILL)
			}
			all.Wait()
		}
		until(t, "a device that is back", func() bool {
			ask(t, s, "POST", "/v2/models/m/infer", jsonRequest(inputs[0]))
			return back.Load() > 0
		})
	}
}

// TestADeviceIsKilledUnderLoad checks that a killed device is replaced within two seconds, or four seconds if
// the machine is busy with other tests. Meanwhile requests are answered with the bits of package predict, or
// with 503.
func TestADeviceIsKilledUnderLoad(t *testing.T) {
	kills, soon := 2, 4*time.Second
	if os.Getenv("BNCTL_SERVE") == "full" {
		kills, soon = 20, 2*time.Second
	}
	m := newModel(t, 1)
	path, x := write(t, m, "m.bnm"), pictures(rand.New(rand.NewPCG(1, 9)), 2)
	var want []byte
	t.Run("predict", func(t *testing.T) { want = predicted(t, predictor(t, m, "cpu"), x) })
	for _, devices := range []string{"cpu", "2xcpu"} {
		s := start(t, on(devices, path))
		var killed atomic.Int64 // time of the last kill, in ns; 0: a request was answered since then
		var worst atomic.Int64  // longest time from a kill to the first answer, in ns
		var stop atomic.Bool
		var asked, refused atomic.Int64
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				for !stop.Load() {
					began := time.Now().UnixNano()
					r := ask(t, s, "POST", "/v2/models/m/infer", jsonRequest(x))
					asked.Add(1)
					switch {
					case r.status == 503 && r.header.Get("Retry-After") != "":
						refused.Add(1)
					case r.status != 200 || !bytes.Equal(inJSON(t, r.body), want):
						t.Errorf("%s: %d, or other bits: %.200s", devices, r.status, r.body)
						return
					}
					if k := killed.Load(); r.status == 200 && k > 0 && began > k && killed.CompareAndSwap(k, 0) {
						worst.Store(max(worst.Load(), time.Now().UnixNano()-k))
					}
				}
			})
		}
		for range kills {
			time.Sleep(200 * time.Millisecond)
			until(t, "its devices", func() bool { return len(children(t)) >= 1+strings.Count(devices, "2") })
			killed.Store(time.Now().UnixNano())
			for _, pid := range children(t) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				break
			}
			until(t, "an answer", func() bool { return killed.Load() == 0 })
		}
		stop.Store(true)
		all.Wait()
		t.Logf("%s: %d kills, %d requests, %d of them 503; the first answer after at most %v", devices, kills,
			asked.Load(), refused.Load(), time.Duration(worst.Load()))
		if took := time.Duration(worst.Load()); took > soon {
			t.Errorf("%s: an answer %v after a device was killed", devices, took)
		}
	}
}
