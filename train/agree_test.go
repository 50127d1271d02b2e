package train

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/device/fabric"
	"github.com/bnctl/bnctl/evaluation/estimation"
	"github.com/bnctl/bnctl/models/fit"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// The digest covers everything that a run begins with: names, types, shapes and values of all sets.
func TestDigest(t *testing.T) {
	seen := map[string]string{}
	one := func(v ...float32) map[string]tensor.Tensor {
		return map[string]tensor.Tensor{"a": tensor.Of(v, len(v)), "b": tensor.Of([]float32{1}, 1)}
	}
	renamed := map[string]tensor.Tensor{"c": tensor.Of([]float32{1, 2}, 2), "b": tensor.Of([]float32{1}, 1)}
	shaped := map[string]tensor.Tensor{"a": tensor.Of([]float32{1, 2}, 2, 1), "b": tensor.Of([]float32{1}, 1)}
	set := func(name string, updates int64, in map[string]tensor.Tensor) *serialize.Checkpoint {
		return &serialize.Checkpoint{Sets: []serialize.Set{{Name: name, Updates: []int64{updates}, Tensors: in}}}
	}
	attached := func(name, content string) *serialize.Checkpoint {
		return &serialize.Checkpoint{Attachments: map[string][]byte{name: []byte(content)}}
	}
	for _, c := range []struct {
		what  string
		state map[string]tensor.Tensor
		from  *serialize.Checkpoint
	}{
		{"plain", one(1, 2), nil}, {"another value", one(1, 3), nil}, {"another name", renamed, nil},
		{"another shape", shaped, nil}, {"a set", one(1, 2), set("x", 0, one(1, 2))},
		{"another set", one(1, 2), set("y", 0, one(1, 2))}, {"more updates", one(1, 2), set("x", 1, one(1, 2))},
		{"another value in the set", one(1, 2), set("x", 0, one(1, 3))},
		{"an attachment", one(1, 2), attached("n", "1")}, {"another attachment", one(1, 2), attached("m", "1")},
		{"another content", one(1, 2), attached("n", "2")},
	} {
		d := digest(c.state, c.from)
		if d != digest(c.state, c.from) {
			t.Errorf("%s: two digests", c.what)
		}
		if was, ok := seen[d]; ok {
			t.Errorf("%s and %s have the same digest", was, c.what)
		}
		seen[d] = c.what
	}
}

// The error names the difference, and a recipe that cannot be read is an error on either side.
func TestWhatOfRanksDiffers(t *testing.T) {
	r := newBench(t, 42).recipe
	r.Schedule, r.Epochs, r.Steps = "constant", 0, 5
	with := func(change func(*recipe.Recipe)) json.RawMessage {
		other := r
		change(&other)
		return other.JSON()
	}
	first := agreement{Recipe: r.JSON(), State: "s"}
	for _, c := range []struct {
		mine, first agreement
		want        string // "": the ranks agree
		not         string
	}{
		{first, first, "", "?"},
		{agreement{Recipe: r.JSON(), State: "s", Every: 4, Tight: true}, first, "", "?"},
		{agreement{Recipe: r.JSON(), State: "s", Step: 3}, first, "step 3, rank 0 at 0", "?"},
		{agreement{Recipe: r.JSON(), State: "t"}, first, "other weights", "?"},
		{agreement{Recipe: r.JSON(), State: "s", Recompute: "all"}, first,
			"its {recompute} is all, on rank 0 auto", "?"},
		{agreement{Recipe: r.JSON(), State: "s", Recompute: "all", Tight: true}, first, "", "?"},
		// With free memory this scarce (Tight), "auto" recomputes, too
		{agreement{Recipe: r.JSON(), State: "s", Recompute: "none", Tight: true}, first,
			"its {recompute} is none, on rank 0 auto", "?"},
		{agreement{Recipe: r.JSON(), State: "s", Recompute: "none"}, first, "", "?"},
		{agreement{Recipe: r.JSON(), State: "s", Stages: "2"}, first, "its {stages} is 2, on rank 0 1", "?"},
		{agreement{Recipe: r.JSON(), State: "s", Stages: "2", Recompute: "none"},
			agreement{Recipe: r.JSON(), State: "s", Stages: "2"}, "its {recompute} is none, on rank 0 auto", "?"},
		{agreement{Recipe: with(func(r *recipe.Recipe) { r.Data.Fingerprint = "0123456789abcdef" }),
			State: "s"}, first,
			" of the fingerprint 0123456789ab, on rank 0 ", "{"},
		{agreement{Recipe: with(func(r *recipe.Recipe) { r.Data.Kind, r.Data.Samples = "folder", 1 }),
			State: "s"}, first,
			"data is folder, 1 sample, on rank 0 glyphs, 42 samples", "{"},
		{agreement{Recipe: with(func(r *recipe.Recipe) { r.Freeze = []string{"a.*", "b"} }), State: "s"}, first,
			"freeze is a.*, b, on rank 0 none", "["},
		{agreement{Recipe: with(func(r *recipe.Recipe) { r.Steps = 6 }), State: "s"}, first,
			"steps is 6, on rank 0 5",
			"epochs"},
		{agreement{Recipe: with(func(r *recipe.Recipe) { r.Steps = 4 }), State: "s"}, first,
			"steps is 4, on rank 0 5",
			"epochs"},
		{agreement{Recipe: with(func(r *recipe.Recipe) { r.LR = 3 }), State: "s"}, first, "lr is 3", "steps"},
		{agreement{Recipe: with(func(r *recipe.Recipe) { r.LR = 3 }), State: "s"}, first, "lr is 3", "epochs"},
		{agreement{Recipe: json.RawMessage(`{"epoch":1}`), State: "s"}, first, "unknown field", "another"},
		{first, agreement{Recipe: json.RawMessage(`{"epoch":1}`), State: "s"}, "unknown field", "another"},
	} {
		got := c.mine.differs(c.first, c.mine.Tight)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) || strings.Contains(got, c.not) {
			t.Errorf("%q, want %q and not %q", got, c.want, c.not)
		}
		if n := strings.Count(got, "steps is"); n > 1 {
			t.Errorf("%q says so %d times", got, n)
		}
	}
}

// A rank that fails ends the other ranks, which wait for it. They return its error message at once.
func TestARankEndsTheOthers(t *testing.T) {
	b := newBench(t, 42)
	var mu sync.Mutex
	var others sync.WaitGroup
	others.Add(2)
	for rank, err := range onRanks(3, func(p *fabric.Peers) error {
		mu.Lock()
		recipe, c, m := b.recipe, b.config(1), b.model()
		mu.Unlock()
		c.Peers = p
		if p.Rank() == 1 {
			c.Train = broken{c.Train}
		}
		s, err := New(context.Background(), &recipe, m, c)
		if err != nil {
			return err
		}
		defer s.Close()
		_, err = s.Run(context.Background())
		if p.Rank() == 1 {
			others.Wait()
		} else {
			others.Done()
		}
		return err
	}) {
		if err == nil || !strings.Contains(err.Error(), "this disk is broken") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// A separate estimation gives the result of a session with the same weights and batches,
// and refuses a model without batch norm.
func TestOpenEstimator(t *testing.T) {
	b := newBench(t, 42)
	c, m := b.config(2), b.model()
	wrapped, err := spmd.Wrap(m.Graph, spmd.Options{Replicas: 4, BN: bn.Sync, Stats: bn.Pooled})
	if err != nil {
		t.Fatal(err)
	}
	layers, err := bn.Layers(wrapped.Main)
	if err != nil {
		t.Fatal(err)
	}
	estimate := func(samples int) (map[string]tensor.Tensor, int) {
		d, err := estimation.Open(context.Background(), m, wrapped, c.Devices, 16, 4)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		l, err := data.NewLoader(t.Context(), b.source, data.Plan{Batch: 16, Epochs: 1,
			Transform: fit.Transform(m, b.source.Info())})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		got, counted, err := estimation.Reestimate(t.Context(), d, l, estimation.Reestimation{Layers: layers,
			Input: wrapped.Main.Values[wrapped.Main.Inputs[0]].Name, Batch: 16, Replicas: 4, Samples: samples})
		if err != nil {
			t.Fatal(err)
		}
		return got, counted
	}
	all, counted := estimate(1000)
	if counted != 42 || len(all) != 4 {
		t.Errorf("%d samples, %d tensors", counted, len(all))
	}
	some, counted := estimate(20)
	if counted != 20 || differing(some, all) == "" {
		t.Errorf("%d samples of 20, the statistics of all", counted)
	}
	same, counted := estimate(42)
	if counted != 42 || differing(same, all) != "" {
		t.Errorf("%d samples of 42: %s differs", counted, differing(same, all))
	}
}
