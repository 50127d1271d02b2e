package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/data/augmentation"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/plugins/cpu"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/tensor"
)

// maskBench trains the network "masks" on scenes, augmented and weighed as
// `bnctl train` does for masks.
func maskBench(t *testing.T, samples int) *bench {
	t.Helper()
	src, err := data.Open(t.Context(), fmt.Sprintf("shapes:%d", samples), data.Options{Split: data.Train})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	b := newBench(t, 16)
	b.source, b.recipe.Model = src, "masks"
	b.recipe.Data = recipe.Data{Kind: "shapes", Samples: samples, Classes: len(src.Info().Classes)}
	b.recipe.Augment, b.recipe.ClassWeights, b.recipe.Schedule = augmentation.Segment(), "1,2,2,2,2,2", "poly"
	return b
}

// void is a source in which some masks have no pixel that counts.
type void struct {
	data.Source
	samples []int
}

func (v void) Label(ctx context.Context, i int) ([]int32, error) {
	label, err := v.Source.Label(ctx, i)
	if slices.Contains(v.samples, i) {
		for at := range label {
			label[at] = -1
		}
	}
	return label, err
}

// tellingTemplate trains to the end on devices, and returns the sum of the template and the
// events of epochs. Neither may contain NaN.
func (b *bench) tellingTemplate(t *testing.T, devices int) (sum, told string) {
	t.Helper()
	c := b.config(devices)
	c.Events = func(e Event) {
		if e, ok := e.(EpochDone); ok {
			if told += toldOf(e); e.ValMIoU == nil || math.IsNaN(float64(*e.ValLoss)) || math.IsNaN(e.TrainLoss) {
				t.Errorf("%d devices: %+v", devices, e)
			}
		}
	}
	s, err := New(context.Background(), &b.recipe, b.model(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range m.State {
		for _, x := range v.F32() {
			if !tensor.IsFinite(x) {
				t.Fatalf("%d devices: %s holds %g", devices, name, x)
			}
		}
	}
	sum, err = sumOf(t, m)
	if err != nil {
		t.Fatal(err)
	}
	return sum, told
}

// TestFewImagesOverReplicas trains on 1, 3 and 5 images over 4 replicas with every tail policy. There is no
// NaN, and template, losses and mIoU match one device. Drop refuses data that leaves no batch.
func TestFewImagesOverReplicas(t *testing.T) {
	for _, images := range []int{1, 3, 5} {
		for _, tail := range parallel.Tails() {
			for _, mode := range []bn.Mode{bn.Sync, bn.Replica} {
				t.Run(fmt.Sprintf("%d %s %s", images, tail, mode), func(t *testing.T) {
					b := maskBench(t, images)
					b.recipe.Batch, b.recipe.Tail, b.recipe.BN = 4, tail, mode
					if tail == parallel.Drop && images < 4 {
						var p *problem.Error
						if _, err := New(t.Context(), &b.recipe, b.model(), b.config(1)); !errors.As(err, &p) {
							t.Errorf("%v, want that nothing is left", err)
						}
						return
					}
					sum, told := b.tellingTemplate(t, 1)
					for devices := 2; devices <= 4; devices++ {
						if testing.Short() && devices != 3 {
							continue
						}
						if s, o := b.tellingTemplate(t, devices); s != sum || o != told {
							t.Errorf("%d devices: template %s, told\n%sone device: %s,\n%s", devices, s, o, sum, told)
						}
					}
				})
			}
		}
	}
}

// No pixel counts in an image, in a replica, or in a batch. There is no NaN, and the result does not depend
// on the devices.
func TestPixelsThatAllCountForNothing(t *testing.T) {
	for name, samples := range map[string][]int{"an image": {2}, "a replica and more": {0, 1, 2, 3, 4},
		"every batch": {0, 1, 2, 3, 4, 5, 6, 7}} {
		for _, mode := range []bn.Mode{bn.Sync, bn.Replica} {
			b := maskBench(t, 8)
			b.source = void{b.source, samples}
			b.recipe.Batch, b.recipe.BN, b.recipe.Save = 8, mode, "last"
			c := b.config(1)
			if name == "every batch" { // without pixels that count, mIoU has no class
				b.emptyBatches(t, c)
				continue
			}
			sum, told := b.tellingTemplate(t, 1)
			if s, o := b.tellingTemplate(t, 3); s != sum || o != told {
				t.Errorf("%s, %s: 3 devices: %s %s, one: %s %s", name, mode, s, o, sum, told)
			}
		}
	}
}

// emptyBatches trains on batches in which nothing counts: the loss is 0, and the weights stay finite.
func (b *bench) emptyBatches(t *testing.T, c Config) {
	t.Helper()
	c.Validation = nil
	c.Events = func(e Event) {
		if e, ok := e.(EpochDone); ok && e.TrainLoss != 0 {
			t.Errorf("a loss of %g where nothing counts", e.TrainLoss)
		}
	}
	s, err := New(t.Context(), &b.recipe, b.model(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range m.State {
		for _, x := range v.F32() {
			if !tensor.IsFinite(x) {
				t.Fatalf("%s holds %g", name, x)
			}
		}
	}
}

// The same recipe for masks gives the same template over devices, threads, ranks
// and runs that were stopped.
func TestSameTemplateOfMasks(t *testing.T) {
	b := maskBench(t, 13)
	b.recipe.Batch = 8
	want, told := b.tellingTemplate(t, 1)
	if got, o := b.tellingTemplate(t, 3); got != want || o != told {
		t.Errorf("3 devices: template %s, on one %s", got, want)
	}
	if got := b.resumed(1); got != want {
		t.Errorf("stopped and resumed: template %s, undisturbed %s", got, want)
	}
	ranks, err := b.trainOn([]int{1, 2}, nil)
	if err != nil || ranks.sums[0] != want || ranks.sums[1] != want || ranks.told != told {
		t.Errorf("2 ranks: %+v, %v, one: %s %s", ranks, err, want, told)
	}
	one := b.template(New(t.Context(), &b.recipe, b.model(), b.cpuConfig(t, 1)))
	for threads := 2; threads <= 3; threads++ {
		if got := b.template(New(t.Context(), &b.recipe, b.model(), b.cpuConfig(t, threads))); got != one {
			t.Errorf("%d threads: template %s, one thread %s", threads, got, one)
		}
	}
}

// cpuConfig is like config but with one CPU device of that number of threads.
func (b *bench) cpuConfig(t *testing.T, threads int) Config {
	t.Helper()
	c := b.config(0)
	d, err := cpu.Provider{}.Open(t.Context(), device.DefaultID, device.Options{Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	c.Workers, c.Devices = threads, []parallel.Member{{Name: "cpu:0", Device: d}}
	return c
}

// Devices die at calls of every kind, and masks train to the same template.
func TestMasksKilled(t *testing.T) {
	b := maskBench(t, 5)
	b.recipe.Batch, b.recipe.Replicas, b.recipe.Epochs = 4, 2, 1
	peace := newStage()
	want := b.drama(t, peace, 2)
	var struck []string
	if b.survives(want, peace, nil, peace.fatesOf(0), &struck); len(struck) == 0 {
		t.Error("nothing was struck")
	}
}
