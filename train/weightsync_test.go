package train

import (
	"context"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/parallel"
)

func newSyncBench(t *testing.T, w parallel.Sync) *bench {
	b := newBench(t, 24) // two steps an epoch
	b.recipe.BN, b.recipe.WeightSync = bn.Replica, w
	return b
}

// TestSameTemplateHoweverWeightsAreSynchronised trains on several numbers of
// devices, and stopped and resumed on others.
func TestSameTemplateHoweverWeightsAreSynchronised(t *testing.T) {
	for _, w := range []parallel.Sync{parallel.Template, "async:2"} {
		t.Run(string(w), func(t *testing.T) {
			b := newSyncBench(t, w)
			ctx := context.Background()
			want := b.template(New(ctx, &b.recipe, b.model(), b.config(1)))
			if got := b.template(New(ctx, &b.recipe, b.model(), b.config(3))); got != want {
				t.Errorf("3 devices: template %s, on one device %s", got, want)
			}
			if got := b.resumed(3); got != want {
				t.Errorf("resumed: template %s, undisturbed %s", got, want)
			}
		})
	}
}

// One device that updates for all, and gradients that come in the very step,
// are what summing gradients everywhere is.
func TestWaysThatEqualAllReduce(t *testing.T) {
	all, _, _ := newSyncBench(t, parallel.AllReduce).trainOnce()
	for _, w := range []parallel.Sync{parallel.Template, "async:0"} {
		got, _, _ := newSyncBench(t, w).trainOnce()
		if name := differing(got.State, all.State); name != "" {
			t.Errorf("%s: %s differs from allreduce", w, name)
		}
	}
	late, _, _ := newSyncBench(t, "async:2").trainOnce()
	if name := differing(late.State, all.State); name == "" {
		t.Error("gradients that come late change nothing")
	}
}

func TestLateGradientsNeedReplicas(t *testing.T) {
	r := newSyncBench(t, "async:1").recipe
	r.BN = bn.Sync
	if err := r.Check(); err == nil || !strings.Contains(err.Error(), "--bn replica") {
		t.Errorf("with --bn sync: %v", err)
	}
	for _, w := range []parallel.Sync{"", "async", "async:65", "periodic:2", "async:-1"} {
		r.WeightSync = w
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), "weight synchronisation") {
			t.Errorf("--weight-sync %q: %v", w, err)
		}
	}
}
