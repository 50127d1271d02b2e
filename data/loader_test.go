package data

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bnctl/bnctl/data/augmentation"
	"github.com/bnctl/bnctl/tensor"
)

// numbered is a source of n arrays [i, 2i], with i mod 3 as label. Reading the sample with the number broken
// returns an error.
type numbered struct {
	n, broken int
	reads     atomic.Int64
}

func (s *numbered) Info() Info {
	return Info{Len: s.n, DType: tensor.F32, Shape: []int{2}, Labelled: true, Classes: []string{"a", "b", "c"}}
}

func (s *numbered) Sample(_ context.Context, i int) (tensor.Tensor, error) {
	s.reads.Add(1)
	if i >= s.broken {
		return tensor.Tensor{}, fmt.Errorf("sample %d is broken", i)
	}
	return tensor.Of([]float32{float32(i), float32(2 * i)}, 2), nil
}

func (s *numbered) Label(_ context.Context, i int) ([]int32, error) {
	return []int32{int32(i % 3)}, nil
}
func (s *numbered) Name(i int) string                           { return fmt.Sprint(i) }
func (s *numbered) Fingerprint(context.Context) (string, error) { return "", nil }
func (s *numbered) Close() error                                { return nil }

func whole(n int) *numbered { return &numbered{n: n, broken: n} }

// load reads all batches of a plan, and returns copies of them.
func load(t *testing.T, src Source, plan Plan) []*Batch {
	t.Helper()
	l, err := NewLoader(context.Background(), src, plan)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var all []*Batch
	for {
		b, err := l.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		c := &Batch{Position: b.Position, Last: b.Last, samples: slices.Clone(b.samples), earlier: b.earlier,
			X: b.X.Clone(), Samples: b.Samples.Clone()}
		if !b.Labels.IsZero() {
			c.Labels = b.Labels.Clone()
		}
		if c.Fraction = b.Fraction; !b.Partners.IsZero() {
			c.Partners = b.Partners.Clone()
		}
		all = append(all, c)
		b.Release()
	}
}

func TestLoaderWithoutShuffle(t *testing.T) {
	got := load(t, whole(7), Plan{Batch: 3, Epochs: 2})
	if len(got) != 6 {
		t.Fatalf("%d batches, want 6", len(got))
	}
	for k, b := range got {
		want := []int64{int64(k % 3 * 3), int64(k%3*3 + 1), int64(k%3*3 + 2)}
		if k%3 == 2 {
			want = want[:1]
		}
		if b.Epoch != k/3 || b.Index != k%3 || b.Last != (k%3 == 2) || !slices.Equal(b.Samples.I64(), want) {
			t.Errorf("batch %d is %+v of samples %d, want %d", k, b.Position, b.Samples.I64(), want)
		}
		for row, i := range want {
			if b.X.F32()[2*row+1] != float32(2*i) || b.Labels.I32()[row] != int32(i%3) {
				t.Errorf("batch %d row %d: %v, label %d", k, row, b.X.F32()[2*row:2*row+2], b.Labels.I32()[row])
			}
		}
	}
}

func TestLoaderShufflesEveryEpochAnew(t *testing.T) {
	var epochs [2][]int64
	for _, b := range load(t, whole(100), Plan{Batch: 7, Epochs: 2, Shuffle: true, Seed: 5}) {
		epochs[b.Epoch] = append(epochs[b.Epoch], b.Samples.I64()...)
	}
	if slices.Equal(epochs[0], epochs[1]) {
		t.Error("both epochs have one order")
	}
	for e, samples := range epochs {
		for i, s := range order(5, e, 100) {
			if samples[i] != int64(s) {
				t.Fatalf("epoch %d visits %d, want that of order", e, samples)
			}
		}
		slices.Sort(samples)
		for i, s := range samples {
			if s != int64(i) {
				t.Fatalf("epoch %d visits %d", e, samples)
			}
		}
	}
}

// A seed determines order and augmentation. The numbers in this test and the next must never change. This
// package computed them on linux/amd64.
func TestOrderGolden(t *testing.T) {
	for _, c := range []struct {
		seed     uint64
		epoch, n int
		want     []int
	}{
		{0, 0, 8, []int{4, 7, 5, 3, 6, 2, 1, 0}},
		{0, 1, 8, []int{1, 5, 3, 2, 0, 6, 7, 4}},
		{1, 0, 8, []int{7, 3, 1, 6, 5, 2, 0, 4}},
	} {
		if got := order(c.seed, c.epoch, c.n); !slices.Equal(got, c.want) {
			t.Errorf("Order(%d, %d, %d) = %#v, want %v", c.seed, c.epoch, c.n, got, c.want)
		}
	}
}

func TestAugmentGolden(t *testing.T) {
	src := open(t, "glyphs:40", Options{})
	for augment, want := range map[string]string{
		"cifar":    "09a2d880863d2cef6cc20a4e00645572dd5d764ed4cebe9e8c445295c9f0aa9d",
		"imagenet": "9eea8bcc0d6812141b5dbbf4b8128591fdcfb6afd7b80a0225d954a38e840842",
	} {
		transform := Transform{Augment: augmentation.MustParse(augment)}
		b := load(t, src, Plan{Batch: 40, Epochs: 1, Seed: 9, Transform: transform})[0]
		if got := fmt.Sprintf("%x", sha256.Sum256(b.X.Bytes)); got != want {
			t.Errorf("augmentation %s has the hash %s, want %s", augment, got, want)
		}
	}
}

func TestLoaderIsTheSameForAnyWorkers(t *testing.T) {
	src := open(t, "glyphs:300", Options{})
	plan := Plan{Batch: 64, Epochs: 2, Shuffle: true, Seed: 3, Workers: 1, Prefetch: 1}
	plan.Transform = Transform{Height: 24, Width: 20, Channels: 3, Augment: augmentation.ImageNet()}
	want := load(t, src, plan)
	for _, workers := range []int{2, 3, 8} {
		plan.Workers, plan.Prefetch = workers, workers
		sameBatches(t, fmt.Sprint(workers, " workers"), load(t, src, plan), want)
	}
}

func TestLoaderStartsAnywhere(t *testing.T) {
	src := open(t, "glyphs:100", Options{})
	plan := Plan{Batch: 30, Epochs: 3, Shuffle: true, Transform: Transform{Augment: augmentation.CIFAR()}}
	all := load(t, src, plan)
	for k := range all {
		plan.Start = all[k].Position
		sameBatches(t, fmt.Sprint("from ", plan.Start), load(t, src, plan), all[k:])
	}
	plan.Start = Position{1, 4} // last batch of epoch 1
	sameBatches(t, "from the end", load(t, src, plan), all[8:])
	plan.Start = Position{3, 0}
	sameBatches(t, "after the last epoch", load(t, src, plan), nil)
}

func sameBatches(t *testing.T, name string, got, want []*Batch) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d batches, want %d", name, len(got), len(want))
		return
	}
	for k := range got {
		g, w := got[k], want[k]
		if g.Position != w.Position || !tensor.Equal(g.X, w.X) || !tensor.Equal(g.Labels, w.Labels) ||
			!tensor.Equal(g.Samples, w.Samples) {
			t.Errorf("%s: batch %+v differs from %+v", name, g.Position, w.Position)
		}
	}
}

func TestAugmentationDiffersBetweenEpochsAndSeeds(t *testing.T) {
	src := open(t, "glyphs:50", Options{})
	plan := Plan{Batch: 50, Epochs: 2, Transform: Transform{Augment: augmentation.CIFAR()}}
	a := load(t, src, plan)
	plan.Seed = 1
	b := load(t, src, plan)
	if tensor.Equal(a[0].X, a[1].X) || tensor.Equal(a[0].X, b[0].X) {
		t.Error("pictures are augmented as they were in another epoch or with another seed")
	}
}

func TestLoaderWithoutLabels(t *testing.T) {
	dir := unpack(t, []file{{"1.png", pngOf(t, 4, 4, 1)}, {"2.png", pngOf(t, 6, 8, 2)}})
	src, err := OpenInputs(t.Context(), []string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := load(t, src, Plan{Batch: 5, Epochs: 1, Transform: Transform{Height: 2, Width: 2}})
	if len(got) != 1 || !got[0].Labels.IsZero() || !slices.Equal(got[0].X.Shape, []int{2, 2, 2, 3}) {
		t.Errorf("batches are %+v", got)
	}
}

func TestLoaderError(t *testing.T) {
	for _, workers := range []int{1, 8} {
		l, err := NewLoader(context.Background(), &numbered{n: 100, broken: 55}, Plan{Batch: 20, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if b, err := l.Next(); err != nil {
				t.Errorf("batch %v: %v", b, err)
			}
		}
		for range 2 {
			_, err := l.Next()
			wantError(t, err, "sample 55 is broken")
		}
		l.Close()
	}
}

func TestLoaderStopsReading(t *testing.T) {
	src := whole(1 << 20)
	ctx, cancel := context.WithCancelCause(context.Background())
	l, err := NewLoader(ctx, src, Plan{Batch: 8, Workers: 4, Prefetch: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Next(); err != nil {
		t.Fatal(err)
	}
	reason := errors.New("enough")
	cancel(reason)
	for err == nil {
		_, err = l.Next() // batches that were prepared ahead may still be returned first
	}
	if !errors.Is(err, reason) {
		t.Errorf("error %v, want %v", err, reason)
	}
	l.Close()
	after := src.reads.Load()
	if limit := int64(8 * 16); after > limit {
		t.Errorf("%d samples read ahead, want at most %d", after, limit)
	}
	if _, err := l.Next(); err == nil {
		t.Error("a closed loader gives batches")
	}
	l.Close()
}

func TestReleaseTwice(t *testing.T) {
	l, err := NewLoader(context.Background(), whole(100), Plan{Batch: 2, Workers: 1, Prefetch: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b, err := l.Next()
	if err != nil {
		t.Fatal(err)
	}
	b.Release()
	b.Release()
	seen := map[*float32]bool{}
	for range 6 { // the batches are not released, so no two of them may share memory
		b, err := l.Next()
		if err != nil {
			t.Fatal(err)
		}
		if p := &b.X.F32()[0]; seen[p] {
			t.Error("two batches share their memory")
		} else {
			seen[p] = true
		}
	}
}

func TestNewLoaderBad(t *testing.T) {
	for _, c := range []struct {
		name string
		plan Plan
		want string
	}{
		{"no batch", Plan{}, "want at least 1"},
		{"workers", Plan{Batch: 1, Workers: -1}, "workers -1"},
		{"start", Plan{Batch: 3, Start: Position{0, 5}}, "an epoch has 4 batches"},
		{"augment", Plan{Batch: 3, Transform: Transform{Augment: augmentation.CIFAR()}}, "for pictures"},
		{"huge", Plan{Batch: 1 << 62}, "too large"},
	} {
		_, err := NewLoader(context.Background(), whole(10), c.plan)
		t.Run(c.name, func(t *testing.T) { wantError(t, err, c.want) })
	}
}

// waiting is a source with samples that are never returned.
type waiting struct {
	*numbered
	never chan struct{}
}

func (s waiting) Sample(context.Context, int) (tensor.Tensor, error) {
	<-s.never
	return tensor.Tensor{}, nil
}

// TestLoaderEndsWithItsContext: when the context ends, neither Next nor Close waits for a sample that is
// still being read.
func TestLoaderEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	src := waiting{whole(8), make(chan struct{})}
	defer close(src.never)
	l, err := NewLoader(ctx, src, Plan{Batch: 4})
	if err != nil {
		t.Fatal(err)
	}
	why, began := errors.New("enough"), time.Now()
	cancel(why)
	if _, err := l.Next(); err != why {
		t.Errorf("Next = %v, want %v", err, why)
	}
	l.Close()
	if took := time.Since(began); took > closing+3*time.Second {
		t.Errorf("it took %v", took)
	}
}
