package parallel

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/device/collective"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/internal/inprocess"
	"github.com/bnctl/bnctl/parallel/spmd"
)

// onRanks calls f for every rank of a run and returns the text and the error of each.
func onRanks(size int, f func(p *fabric.Peers) (string, error)) ([]string, error) {
	said, errs := make([]string, size), make([]error, size)
	var wait sync.WaitGroup
	for i, r := range inprocess.New(size) {
		wait.Go(func() {
			p := fabric.New(r, 20*time.Second)
			said[i], errs[i] = f(p)
			if errs[i] != nil {
				errs[i] = fmt.Errorf("on rank %d: %w", i, errs[i])
			}
			errs[i] = errors.Join(errs[i], p.Close())
		})
	}
	wait.Wait()
	return said, errors.Join(errs...)
}

// rankSteps trains with five replicas and returns losses, moments and state as text.
func rankSteps(t *testing.T, members []Member, mode bn.Mode, c Config) (string, error) {
	ctx, m := context.Background(), small(t)
	c.Replicas, c.Batch = 5, 20
	d, err := Open(ctx, program(t, m, spmd.Options{Replicas: 5, BN: mode}), m.State, members, c)
	if err != nil {
		return "", err
	}
	defer d.Close()
	got := ""
	for i := range 8 {
		r, err := d.Step(ctx, batchOf(20-i%7, 5, Keep, 20))
		if err != nil {
			return got, err
		}
		got += fmt.Sprint(r.Loss, r.Correct, r.Counted, r.Moments[0].Shape, r.Moments[0].F64())
		if err := d.Commit(ctx, device.Hyper{"lr": 0.1}); err != nil {
			return got, err
		}
	}
	for _, rows := range []int{7, 2} {
		outs, err := d.Predict(ctx, batchOf(rows, 5, Keep, 20).Rows["x"])
		if err != nil {
			return got, err
		}
		got += fmt.Sprint(outs[0].Shape, outs[0].F32())
	}
	state, err := d.State(ctx)
	for _, s := range m.Graph.State {
		got += fmt.Sprint(s.Name, state[s.Name].F32())
	}
	return got, err
}

// TestRanksHaveTheSameBits: with any number of ranks and devices, all ranks have the bits
// of one device.
func TestRanksHaveTheSameBits(t *testing.T) {
	for _, mode := range []bn.Mode{bn.Sync, bn.Replica} {
		want, err := rankSteps(t, refs(t, 1), mode, Config{})
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{2, 3, 5} {
			for _, devices := range []int{1, 2} {
				if size*devices > 5 || testing.Short() && size*devices != 3 {
					continue
				}
				for _, template := range []bool{false, true}[:1+size%2] {
					said, err := onRanks(size, func(p *fabric.Peers) (string, error) {
						return rankSteps(t, refs(t, min(devices, 5/size)), mode, Config{Peers: p, Template: template})
					})
					if err != nil {
						t.Fatalf("%s, %d ranks of %d devices: %v", mode, size, devices, err)
					}
					for rank, got := range said {
						if got != want {
							t.Errorf("%s: rank %d of %d with %d devices has other bits than one device", mode, rank, size,
								devices)
						}
					}
				}
			}
		}
	}
}

// TestRanksLoseDevices kills devices on all ranks, each of which keeps one, and opens them
// again.
func TestRanksLoseDevices(t *testing.T) {
	want, err := rankSteps(t, refs(t, 1), bn.Sync, Config{})
	if err != nil {
		t.Fatal(err)
	}
	seeds := uint64(4)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		lost := 0
		var mu sync.Mutex
		said, err := onRanks(2, func(p *fabric.Peers) (string, error) {
			h := &hall{fate: rand.New(rand.NewPCG(seed, uint64(p.Rank()))), deaths: 6, calm: 25}
			members := refs(t, 1)
			first, err := h.open()
			if err != nil {
				return "", err
			}
			defer first.Close()
			members = append(members, Member{Name: "frail", Device: first})
			return rankSteps(t, members, bn.Sync, Config{Peers: p, Reopen: h.reopen, Timeout: 2 * time.Second,
				Lost: func(LostDevice) {
					mu.Lock()
					defer mu.Unlock()
					lost++
				}})
		})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for rank, got := range said {
			if got != want {
				t.Errorf("seed %d: rank %d has other bits than without losses", seed, rank)
			}
		}
		if lost == 0 {
			t.Errorf("seed %d: no device was lost", seed)
		}
	}
}

// TestRanksOfOneDeviceLoseIt: each rank has one device, which dies again and again. A rank
// without devices opens one and gets the state of another rank.
func TestRanksOfOneDeviceLoseIt(t *testing.T) {
	want, err := rankSteps(t, refs(t, 1), bn.Sync, Config{})
	if err != nil {
		t.Fatal(err)
	}
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) { loseOnes(t, seed, want) })
	}
}

// loseOnes runs TestRanksOfOneDeviceLoseIt for one seed.
func loseOnes(t *testing.T, seed uint64, want string) {
	lost := 0
	var mu sync.Mutex
	said, err := onRanks(3, func(p *fabric.Peers) (string, error) {
		h := &hall{fate: rand.New(rand.NewPCG(seed, uint64(p.Rank()))), deaths: 2, calm: 12}
		if p.Rank() == 0 {
			h.deaths = 0 // one rank always keeps the state
		}
		first, err := h.open()
		if err != nil {
			return "", err
		}
		defer first.Close()
		return rankSteps(t, []Member{{Name: "frail", Device: first}}, bn.Sync, Config{Peers: p, Reopen: h.reopen,
			Timeout: 5 * time.Second, Lost: func(LostDevice) {
				mu.Lock()
				defer mu.Unlock()
				lost++
			}})
	})
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	for rank, got := range said {
		if got != want {
			t.Errorf("seed %d: rank %d has other bits than without losses", seed, rank)
		}
	}
	if lost == 0 {
		t.Errorf("seed %d: no device was lost", seed)
	}
}

// TestRanksThatCannotGoOn: all ranks return the reason why one of them cannot continue.
func TestRanksThatCannotGoOn(t *testing.T) {
	for _, c := range []struct {
		what, want string
		change     func(rank int, m *Member, c *Config)
	}{
		{"no device is left", "rank 1: no device is left", func(rank int, m *Member, _ *Config) {
			if rank == 1 {
				m.Device = &mortal{Device: m.Device, dies: 3}
			}
		}},
		{"another program", "its devices run another program", func(rank int, m *Member, _ *Config) {
			if rank == 1 {
				m.Device = &picky{m.Device, graph.ChannelSum}
			}
		}},
		{"weights of their own", "not kept on several ranks", func(_ int, _ *Member, c *Config) { c.Local = true }},
	} {
		errs := make([]error, 3)
		_, _ = onRanks(3, func(p *fabric.Peers) (string, error) {
			members, config := refs(t, 1), Config{Peers: p}
			c.change(p.Rank(), &members[0], &config)
			_, err := rankSteps(t, members, bn.Sync, config)
			errs[p.Rank()] = err
			return "", err
		})
		for rank, err := range errs {
			if err == nil || !strings.Contains(err.Error(), c.want) && rank != 1 {
				t.Errorf("%s: rank %d says %v, want %q", c.what, rank, err, c.want)
			}
		}
	}
	if _, err := onRanks(6, func(p *fabric.Peers) (string, error) {
		return rankSteps(t, refs(t, 1), bn.Sync, Config{Peers: p})
	}); err == nil || !strings.Contains(err.Error(), "6 ranks for 5 replicas") {
		t.Errorf("more ranks than replicas: %v", err)
	}
}

// All ranks receive the work of each rank in a step: rows, waits, and bytes since the
// previous step. They also learn that one of them is to stop, which does not end the step.
func TestSharesOfRanks(t *testing.T) {
	b, size := batchOf(13, 5, Pad, 20), 2 // 4, 4, 4, 1 and 0
	said, err := onRanks(size, func(p *fabric.Peers) (string, error) {
		d, err := Open(t.Context(), program(t, small(t), spmd.Options{Replicas: 5}), small(t).State,
			pacedRefs(t, time.Millisecond), withSizes(Config{Peers: p}))
		if err != nil {
			return "", err
		}
		defer d.Close()
		replicaTensors, before := b, p.Sent(collective.Moments)+p.Sent(collective.Gradients)
		replicaTensors.Waited = time.Duration(1+p.Rank()) * time.Minute
		ctx, end := context.WithCancel(t.Context())
		defer end()
		got := ""
		var bytes []int64
		for i := range 3 {
			if i == 2 && p.Rank() == 1 {
				end()
			}
			r, err := d.Step(ctx, replicaTensors)
			if err == nil {
				err = d.Commit(ctx, device.Hyper{"lr": 0.1})
			}
			if err != nil {
				return "", err
			}
			for _, s := range r.Ranks {
				got += fmt.Sprint(" ", s.Rows, s.Waited, s.Blocked)
			}
			got += fmt.Sprint(r.Stop)
			bytes = append(bytes, r.Ranks[p.Rank()].Bytes)
		}
		sent := p.Sent(collective.Moments) + p.Sent(collective.Gradients) - before
		left := sent + before - (bytes[0] + bytes[1] + bytes[2]) // bytes of the last report
		if bytes[1] != bytes[2] || bytes[0] <= 0 || left <= 0 || left >= bytes[1] {
			return "", fmt.Errorf("%d bytes by steps, %d in all after %d", bytes, sent, before)
		}
		return got, nil
	})
	want := strings.Repeat(" 12 1m0s 1s 1 2m0s 1sfalse", 2) + " 12 1m0s 1s 1 2m0s 1strue"
	if err != nil || said[0] != want || said[1] != want {
		t.Errorf("%q, %v, want %q", said, err, want)
	}
}
