package train

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/parallel"
	"github.com/bnctl/bnctl/serialize"
)

// epochs trains to the end and returns the reported epochs. If stop is above 0, it stops the run at that
// step and resumes it.
func (b *bench) epochs(t *testing.T, stop int) (told []EpochDone, end Finished) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := b.config(2)
	c.Checkpoint = filepath.Join(t.TempDir(), "run.bnc")
	c.Events = func(e Event) {
		switch e := e.(type) {
		case EpochDone:
			told = append(told, e)
		case Stepped:
			if e.Step == stop {
				cancel()
			}
		}
	}
	s, err := New(ctx, &b.recipe, b.model(), c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.Run(ctx); stop == 0 && err != nil || stop > 0 && err != context.Canceled {
		t.Fatalf("the run returned %v", err)
	}
	s.Close()
	if stop == 0 {
		return told, s.Finished("", "")
	}
	k, err := serialize.ReadCheckpoint(c.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	c.Devices = b.config(3).Devices
	if s, err = Resume(context.Background(), k, &b.recipe, c); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return told, s.Finished("", "")
}

// TestEveryEpochCountsItsSamples: 42 samples in batches of 16, in a run without a stop or in a
// resumed run.
func TestEveryEpochCountsItsSamples(t *testing.T) {
	for tail, want := range map[parallel.Tail][3]int{
		parallel.Keep: {42, 0, 0}, parallel.Pad: {42, 0, 0}, parallel.Repeat: {42, 0, 6},
		parallel.Drop: {32, 10, 0},
	} {
		for _, stop := range []int{0, 1, 3} {
			b := newBench(t, 42)
			b.recipe.Tail = tail
			told, _ := b.epochs(t, stop)
			if len(told) != b.recipe.Epochs {
				t.Errorf("tail %s, stopped at %d: %d epochs told, want %d", tail, stop, len(told), b.recipe.Epochs)
			}
			for _, e := range told {
				if got := [3]int{e.Seen, e.Dropped, e.Repeated}; got != want {
					t.Errorf("tail %s, stopped at %d, epoch %d: seen, dropped, repeated %v, want %v", tail, stop, e.Epoch,
						got, want)
				}
			}
		}
	}
}

// TestAnEpochIsToldOnce checks that a run that continues from a checkpoint at the end of an
// epoch does not end the epoch again.
func TestAnEpochIsToldOnce(t *testing.T) {
	b := newBench(t, 42)
	c := b.config(1)
	c.Checkpoint = filepath.Join(t.TempDir(), "run.bnc")
	var told []int
	var k *serialize.Checkpoint
	c.Events = func(e Event) {
		switch e := e.(type) {
		case EpochDone:
			told = append(told, e.Epoch)
		case CheckpointWritten:
			if k == nil {
				var err error
				if k, err = serialize.ReadCheckpoint(e.Path); err != nil || e.Step != b.recipe.StepsPerEpoch() {
					t.Errorf("step %d: %v", e.Step, err)
				}
			}
		}
	}
	want := b.template(New(context.Background(), &b.recipe, b.model(), c))
	if c.Devices = b.config(1).Devices; !slices.Equal(told, []int{1, 2}) {
		t.Errorf("epochs %v are told", told)
	}
	told = nil
	got := b.template(Resume(context.Background(), k, &b.recipe, c))
	if got != want || !slices.Equal(told, []int{2}) {
		t.Errorf("resumed: template %s, want %s; epochs %v are told", got, want, told)
	}
}

// TestReportOfWhatComesLate: six steps of four replicas, and a tail with rows for three of
// them. Pending statistics at the end are counted, pending gradients as dropped.
func TestReportOfWhatComesLate(t *testing.T) {
	for _, stop := range []int{0, 1, 4} {
		b := newBench(t, 35)
		b.recipe.Model, b.recipe.BN, b.recipe.BNUpdate, b.recipe.WeightSync = "convolution", bn.Replica, "async:2",
			"async:2"
		told, end := b.epochs(t, stop)
		last := told[len(told)-1]
		const all = 2 * (4 + 4 + 3)
		stale := last.Staleness
		if stale == nil || stale.Applied+stale.Left() != all || end.Dropped != stale.Left() {
			t.Fatalf("stopped at %d: gradients %+v, dropped %d; want %d in all", stop, last.Staleness, end.Dropped, all)
		}
		if last.Staleness.Left() == 0 || last.Staleness.Waited == 0 {
			t.Errorf("stopped at %d: gradients %+v: none was late", stop, last.Staleness)
		}
		if last.Merged == 0 || last.Merged > all || last.Waited == 0 || last.Waited > 2*last.Merged {
			t.Errorf("stopped at %d: merged %d, waited %d", stop, last.Merged, last.Waited)
		}
		if first := told[0]; first.Staleness.Applied >= last.Staleness.Applied || first.Merged >= last.Merged {
			t.Errorf("stopped at %d: the counts of the first epoch are those of both", stop)
		}
	}
}
