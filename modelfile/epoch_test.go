package modelfile_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/modelfile"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// checkpointOf writes a checkpoint of a small model. save is the field Save of its recipe,
// and best reports whether it also has the weights of a best epoch. The first bias of the
// head identifies the epoch: 1 is the last epoch, 2 the best one.
func checkpointOf(t *testing.T, save string, best bool) string {
	t.Helper()
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	head, err := models.HeadState(m)
	if err != nil {
		t.Fatal(err)
	}
	bias := func(v float32) tensor.Tensor {
		b := m.State[head[1]].Clone()
		b.F32()[0] = v
		return b
	}
	m.State[head[1]] = bias(1)
	g, err := spmd.Wrap(m.Graph, spmd.Options{Replicas: 2, BN: bn.Sync, Stats: bn.Pooled})
	if err != nil {
		t.Fatal(err)
	}
	k := &serialize.Checkpoint{Architecture: m.Architecture, Graph: g, Preprocess: m.Preprocess,
		Recipe: []byte(fmt.Sprintf(`{"save":%q}`, save)), Progress: []byte("{}"), State: m.State}
	if best {
		state := maps.Clone(m.State)
		state[head[1]] = bias(2)
		k.Sets = []serialize.Set{{Name: serialize.SetBest, Tensors: state}}
		k.Best = &models.BestEpoch{Epoch: 3, Figure: "accuracy", Value: 0.5}
	}
	path := filepath.Join(t.TempDir(), "run.bnc")
	if err := serialize.WriteCheckpoint(path, k); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestEpoch: a checkpoint gives the weights of the requested epoch, by default of the epoch
// that its run saves. An epoch that it does not have is refused.
func TestEpoch(t *testing.T) {
	for _, c := range []struct {
		save, epoch string
		best        bool
		merge       bn.Rule
		want        float32 // the bias; 0: refused
		text        string
	}{
		{save: "last", best: true, want: 1},
		{save: "last", best: true, epoch: "best", want: 2},
		{save: "best:accuracy", best: true, want: 2},
		{save: "best:loss", best: true, epoch: "best", want: 2},
		{save: "best:miou", best: true, epoch: "last", want: 1},
		{save: "best:accuracy", want: 1}, // nothing is evaluated yet
		{save: "last", epoch: "best", text: "holds none: no epoch was evaluated"},
		{save: "last", epoch: "3", text: `epoch "3": want last or best`},
		{save: "best:accuracy", best: true, merge: bn.Mean, text: "merged already; add epoch last"},
		{save: "last", best: true, epoch: "best", merge: bn.Mean, text: "merged already; add epoch last"},
	} {
		m, removed, err := modelfile.Strip(checkpointOf(t, c.save, c.best),
			modelfile.Options{Epoch: c.epoch, Merge: c.merge})
		if c.want == 0 {
			if err == nil || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		head, _ := models.HeadState(m)
		if got := m.State[head[1]].F32()[0]; got != c.want || (m.Best != nil) != (c.want == 2) {
			t.Errorf("%+v: the bias is %v, the best epoch %+v", c, got, m.Best)
		}
		other := map[float32]string{1: "the weights of the best epoch", 2: "the weights of the last epoch"}[c.want]
		if c.best && !strings.Contains(strings.Join(removed.Lines, "\n"), other) {
			t.Errorf("%+v: removed %v, want %s", c, removed.Lines, other)
		}
	}
}
