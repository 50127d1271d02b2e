package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/internal/inprocess"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/parallel/weightsync"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// onRanks runs f for every rank at once and returns their errors by rank.
func onRanks(size int, f func(p *fabric.Peers) error) []error {
	errs := make([]error, size)
	var wait sync.WaitGroup
	for i, r := range inprocess.New(size) {
		wait.Go(func() {
			p := fabric.New(r, 20*time.Second)
			errs[i] = f(p)
			if errs[i] != nil {
				p.Abort(errs[i].Error())
			}
			errs[i] = errors.Join(errs[i], p.Close())
		})
	}
	wait.Wait()
	return errs
}

// trained is the result of a run on some ranks: the sums of the template, by rank, and the
// epochs that rank 0 reported.
type trained struct {
	sums []string
	told string
}

// counting is a source that counts the samples read from it.
type counting struct {
	data.Source
	mu    *sync.Mutex
	reads *int
}

// trainOn trains on len(devices) ranks; rank r has devices[r] devices. change
// may change the configuration of a rank.
func (b *bench) trainOn(devices []int, change func(rank int, c *Config)) (trained, error) {
	out := trained{sums: make([]string, len(devices))}
	var mu sync.Mutex
	errs := onRanks(len(devices), func(p *fabric.Peers) error {
		mu.Lock()
		recipe, c, m := b.recipe, b.config(devices[p.Rank()]), b.model()
		mu.Unlock()
		c.Peers = p
		c.Events = func(e Event) {
			if e, ok := e.(EpochDone); ok {
				mu.Lock()
				defer mu.Unlock()
				out.told += toldOf(e)
			}
		}
		if change != nil {
			change(p.Rank(), &c)
		}
		s, err := New(context.Background(), &recipe, m, c)
		if err != nil {
			return err
		}
		sum, err := finished(b.t, s)
		out.sums[p.Rank()] = sum
		return errors.Join(err, s.Close())
	})
	return out, errors.Join(errs...)
}

// toldOf returns the figures of an epoch that do not depend on time.
func toldOf(e EpochDone) string {
	told := fmt.Sprintln(e.Epoch, e.TrainLoss, e.TrainAccuracy, e.Seen, e.Repeated, e.Dropped)
	if e.ValLoss != nil && e.ValAccuracy != nil {
		told += fmt.Sprintln(*e.ValLoss, *e.ValAccuracy)
	}
	if e.ValAP50 != nil {
		told += fmt.Sprintln(*e.ValLoss, *e.ValAP50)
	}
	if e.ValMIoU != nil {
		told += fmt.Sprintln(*e.ValMIoU)
	}
	if e.Gap != nil {
		told += fmt.Sprintln(*e.Gap)
	}
	return told
}

// finished trains to the end and returns the sum of the template.
func finished(t *testing.T, s *Session) (string, error) {
	m, err := s.Run(context.Background())
	if err != nil {
		return "", err
	}
	return sumOf(t, m)
}

func sumOf(t *testing.T, m *models.Model) (string, error) {
	return serialize.WriteModel(filepath.Join(t.TempDir(), "m.bnm"), m)
}

// rankWays returns recipes for several ranks, with every mode, merge rule and tail.
func rankWays() map[string]func(*recipe.Recipe) {
	return map[string]func(*recipe.Recipe){
		"sync":             func(*recipe.Recipe) {},
		"sync, pad":        func(r *recipe.Recipe) { r.Tail = parallel.Pad },
		"sync, repeat":     func(r *recipe.Recipe) { r.Tail = parallel.Repeat },
		"sync, drop":       func(r *recipe.Recipe) { r.Tail = parallel.Drop },
		"sync, accumulate": func(r *recipe.Recipe) { r.Accumulate, r.Replicas, r.Batch = 2, 4, 8 },
		"sync, template":   func(r *recipe.Recipe) { r.WeightSync = weightsync.Template },
		"sync, precise":    func(r *recipe.Recipe) { r.BNPrecise = 30 },
		"sync, ema, adamw": func(r *recipe.Recipe) { r.EMA, r.EMAWarmup, r.Optimizer, r.LR = 0.9, true, "adamw", 0.01 },
		"sync, bf16":       func(r *recipe.Recipe) { r.Precision = "bf16" },
		"sync, half epoch": func(r *recipe.Recipe) { r.Batch, r.Epochs, r.Steps = 12, 0, 6 },
		"frozen":           func(r *recipe.Recipe) { r.BN, r.Init = bn.Frozen, "given" },
		"replica":          func(r *recipe.Recipe) { r.BN = bn.Replica },
		"replica, pad":     func(r *recipe.Recipe) { r.BN, r.Tail = bn.Replica, parallel.Pad },
		"replica, repeat":  func(r *recipe.Recipe) { r.BN, r.Tail = bn.Replica, parallel.Repeat },
		"mean":             func(r *recipe.Recipe) { r.BN, r.BNStats = bn.Replica, bn.Mean },
		"first":            func(r *recipe.Recipe) { r.BN, r.BNStats = bn.Replica, bn.First },
		"late":             func(r *recipe.Recipe) { r.BN, r.BNUpdate = bn.Replica, "async:2" },
		"posthoc":          func(r *recipe.Recipe) { r.BN, r.BNUpdate = bn.Replica, bn.PostHoc },
		"running":          func(r *recipe.Recipe) { r.BN, r.BNMin, r.Batch = bn.Replica, "running", 12 },
		"sync, mixed":      func(r *recipe.Recipe) { otherRecipes["mixed"](r); r.Tail = parallel.Repeat },
		"replica, mixed":   func(r *recipe.Recipe) { otherRecipes["mixed"](r); r.BN, r.Replicas = bn.Replica, 8 },
		"sync, sampled":    func(r *recipe.Recipe) { otherRecipes["sampled"](r); r.Tail, r.BNPrecise = parallel.Repeat, 20 },
		"replica, lars":    func(r *recipe.Recipe) { r.BN, r.Optimizer, r.ClipNorm = bn.Replica, "lars", 1 },
	}
}

// TestPlacementsOfRanks: each rank may place its replicas on its devices in any way.
func TestPlacementsOfRanks(t *testing.T) {
	b := newBench(t, 42)
	b.recipe.Model, b.recipe.Batch, b.recipe.Replicas = "convolution", 16, 8
	want := b.template(New(context.Background(), &b.recipe, b.model(), b.config(1)))
	got, err := b.trainOn([]int{2, 3}, func(rank int, c *Config) {
		c.Placement = [][]int{{3, 1}, {1, 2, 1}}[rank]
	})
	if err != nil || !slices.Equal(got.sums, []string{want, want}) {
		t.Errorf("templates %v, one device %s, %v", got.sums, want, err)
	}
	_, err = b.trainOn([]int{2, 2}, func(rank int, c *Config) { c.Placement = [][]int{{2, 2}, {4, 4}}[rank] })
	if err == nil || !strings.Contains(err.Error(), "rank 1") {
		t.Errorf("a placement of more replicas than rank 1 has: %v", err)
	}
}

// TestRanksTrainOneTemplate checks the promise: any number of ranks with any number of
// devices trains the template of one device and reports the same epochs.
func TestRanksTrainOneTemplate(t *testing.T) {
	for name, change := range rankWays() {
		if testing.Short() && !slices.Contains([]string{"sync, repeat", "sync, mixed", "frozen", "first", "running"}, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 42)
			b.recipe.Model, b.recipe.Batch, b.recipe.Replicas = "convolution", 16, 8
			change(&b.recipe)
			var told string
			c := b.config(1)
			c.Events = func(e Event) {
				if e, ok := e.(EpochDone); ok {
					told += toldOf(e)
				}
			}
			want := b.template(New(context.Background(), &b.recipe, b.model(), c))
			for _, devices := range [][]int{{1}, {1, 1}, {2, 1, 2}, {2, 2, 2, 2}} {
				if testing.Short() && len(devices) != 3 {
					continue
				}
				got, err := b.trainOn(devices, nil)
				if err != nil {
					t.Fatalf("ranks of %v devices: %v", devices, err)
				}
				for rank, sum := range got.sums {
					if sum != want {
						t.Errorf("ranks of %v devices: rank %d has template %s, one device %s", devices, rank, sum, want)
					}
				}
				if got.told != told {
					t.Errorf("ranks of %v devices tell\n%sone device\n%s", devices, got.told, told)
				}
			}
		})
	}
}

// Sample implements data.Source and counts the call.
func (c counting) Sample(ctx context.Context, i int) (t tensor.Tensor, err error) {
	c.mu.Lock()
	*c.reads++
	c.mu.Unlock()
	return c.Source.Sample(ctx, i)
}

// TestRanksReadTheirShare: together the ranks read every sample once, except for the batches that run a
// second time at the end of an epoch.
func TestRanksReadTheirShare(t *testing.T) {
	b := newBench(t, 16*12)
	b.recipe.Epochs = 1
	const ranks, looked = 4, 2 * 16
	var mu sync.Mutex
	reads := make([]int, ranks)
	_, err := b.trainOn([]int{1, 1, 1, 1}, func(rank int, c *Config) {
		c.Train = counting{c.Train, &mu, &reads[rank]}
	})
	if err != nil {
		t.Fatal(err)
	}
	for rank, n := range reads {
		if want := (16*12-looked)/ranks + looked; n < want || n > want+4*16 { // the loader reads beyond the end
			t.Errorf("rank %d reads %d samples, want %d", rank, n, want)
		}
	}
}

// TestGapOfRanks checks a run that ends in the middle of an epoch. Every rank has read the whole batch of
// the gap, and the figures match a run of one process.
func TestGapOfRanks(t *testing.T) {
	b := newBench(t, 16*6)
	b.recipe.Epochs, b.recipe.Steps = 0, 9
	want := b.gaps()
	var got []*Gap
	_, err := b.trainOn([]int{1, 1, 1}, func(rank int, c *Config) {
		c.Events = func(e Event) {
			if done, ok := e.(EpochDone); ok && rank == 0 {
				got = append(got, done.Gap)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	last := len(want) - 1
	if last < 1 || len(got) != len(want) || want[last] == nil || got[last] == nil {
		t.Fatalf("%v told over ranks, %v by one process", got, want)
	}
	if *got[last] != *want[last] {
		t.Errorf("told over ranks: %+v, want %+v", *got[last], *want[last])
	}
}

// TestRanksStopTogether checks that when the context of one rank ends, all stop after one
// step, and that the checkpoint of rank 0 can be resumed on another number of ranks.
func TestRanksStopTogether(t *testing.T) {
	b := newBench(t, 42)
	want := b.template(New(context.Background(), &b.recipe, b.model(), b.config(1)))
	file := filepath.Join(t.TempDir(), "run.bnc")
	var mu sync.Mutex
	errs := onRanks(3, func(p *fabric.Peers) error {
		mu.Lock()
		recipe, c, m := b.recipe, b.config(1), b.model()
		mu.Unlock()
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		c.Peers, c.Checkpoint = p, file
		s, err := New(ctx, &recipe, m, c)
		if err != nil {
			return err
		}
		defer s.Close()
		if p.Rank() == 1 {
			stop()
		}
		_, err = s.Run(ctx)
		if !errors.Is(err, fabric.Agreed) || p.Rank() == 1 && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("rank %d ended with %v", p.Rank(), err)
		}
		if s.trainer.progress.Step != 1 {
			return fmt.Errorf("rank %d stands at step %d", p.Rank(), s.trainer.progress.Step)
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	k, err := serialize.ReadCheckpoint(file)
	if err != nil {
		t.Fatal(err)
	}
	sums := make([]string, 2)
	errs = onRanks(2, func(p *fabric.Peers) error {
		mu.Lock()
		recipe, c := b.recipe, b.config(2)
		k, err := serialize.ReadCheckpoint(file)
		mu.Unlock()
		if err != nil {
			return err
		}
		c.Peers = p
		s, err := Resume(context.Background(), k, &recipe, c)
		if err != nil {
			return err
		}
		defer s.Close()
		sums[p.Rank()], err = finished(t, s)
		return err
	})
	if err := errors.Join(errs...); err != nil || sums[0] != want || sums[1] != want {
		t.Errorf("resumed on two ranks: %v, %v, want %s", sums, err, want)
	}
	if got := b.template(Resume(context.Background(), k, &b.recipe, b.config(2))); got != want {
		t.Errorf("resumed on one: %s, want %s", got, want)
	}
}

// TestRanksSaveTogether checks that intermediate checkpoints, at rank 0's interval, keep
// all ranks in step to the end, and that the last checkpoint is written once.
func TestRanksSaveTogether(t *testing.T) {
	b := newBench(t, 42)
	want := b.template(New(context.Background(), &b.recipe, b.model(), b.config(1)))
	for _, every := range []int{0, 2} {
		var written []int
		file := filepath.Join(t.TempDir(), "run.bnc")
		got, err := b.trainOn([]int{1, 1, 1}, func(rank int, c *Config) {
			c.Checkpoint, c.CheckpointEvery = file, 5
			if rank > 0 {
				return
			}
			c.CheckpointEvery = every
			c.Events = func(e Event) {
				switch e := e.(type) {
				case CheckpointWritten:
					written = append(written, e.Step)
				case Started:
					if e.Ranks != 3 {
						t.Errorf("%d ranks are told, want 3", e.Ranks)
					}
				case EpochDone:
					rows := 0
					for _, r := range e.Ranks {
						rows += r.Rows
					}
					if len(e.Ranks) != 3 || rows != b.recipe.Data.Samples {
						t.Errorf("ranks %+v are told, want the rows of 3", e.Ranks)
					}
				}
			}
		})
		if err != nil || !slices.Equal(got.sums, []string{want, want, want}) {
			t.Fatalf("every %d: templates %v, want %s, %v", every, got.sums, want, err)
		}
		var due []int
		for step, total := 1, b.recipe.TotalSteps(); step <= total; step++ {
			if step%cmp.Or(every, b.recipe.StepsPerEpoch()) == 0 || step == total {
				due = append(due, step)
			}
		}
		if !slices.Equal(written, due) {
			t.Errorf("every %d: written at steps %v, want %v", every, written, due)
		}
	}
}

// broken is a source with one unreadable sample.
type broken struct{ data.Source }

func (broken) Sample(context.Context, int) (t tensor.Tensor, err error) {
	return t, errors.New("this disk is broken")
}

// TestRanksThatDoNotAgree checks that an error of one rank is reported on all.
func TestRanksThatDoNotAgree(t *testing.T) {
	for _, c := range []struct {
		what, want string
		change     func(rank int, r *recipe.Recipe, c *Config)
	}{
		{"another recipe", "rank 1: its recipe is another: lr is 0.1, on rank 0 0.05", func(rank int, r *recipe.Recipe, _ *Config) {
			if rank == 1 {
				r.LR = 0.1
			}
		}},
		{"a longer run", "rank 2: its recipe is another: epochs is 5, on rank 0 2", func(rank int, r *recipe.Recipe, _ *Config) {
			if rank == 2 {
				r.Epochs, r.Schedule = 5, "constant"
			} else {
				r.Schedule = "constant"
			}
		}},
		{"another release", "release is 2, on rank 0 test", func(rank int, r *recipe.Recipe, _ *Config) {
			if rank == 2 {
				r.Release = "2"
			}
		}},
		{"other data", "data is", func(rank int, r *recipe.Recipe, _ *Config) {
			if rank == 1 {
				r.Data.Fingerprint = "another"
			}
		}},
		{"a disk that is broken", "this disk is broken", func(rank int, _ *recipe.Recipe, c *Config) {
			if rank == 1 {
				c.Train = broken{c.Train}
			}
		}},
		{"weights of their own", "not there over several ranks", func(_ int, r *recipe.Recipe, _ *Config) {
			r.BN, r.WeightSync = bn.Replica, "periodic:2"
		}},
		{"late gradients", "not there over several ranks", func(_ int, r *recipe.Recipe, _ *Config) {
			r.BN, r.WeightSync = bn.Replica, "async:2"
		}},
	} {
		b := newBench(t, 42)
		var mu sync.Mutex
		errs := onRanks(3, func(p *fabric.Peers) error {
			mu.Lock()
			recipe, config, m := b.recipe, b.config(1), b.model()
			mu.Unlock()
			config.Peers = p
			c.change(p.Rank(), &recipe, &config)
			s, err := New(context.Background(), &recipe, m, config)
			if err != nil {
				return err
			}
			defer s.Close()
			_, err = s.Run(context.Background())
			return err
		})
		for rank, err := range errs {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: rank %d says %v, want %q", c.what, rank, err, c.want)
			}
		}
	}
}
