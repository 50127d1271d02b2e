package train

import (
	"github.com/bnctl/bnctl/recipe"
	"github.com/bnctl/bnctl/serialize"
	"path/filepath"
	"strings"
	"testing"
)

// checkpointOf trains for an epoch and returns the path of its checkpoint.
func (b *bench) checkpointOf() string {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "run.bnc")
	b.told(func(c *Config) { c.Checkpoint = path })
	return path
}

func TestReplaceable(t *testing.T) {
	b := newBench(t, 42)
	b.recipe.Epochs = 1
	path := b.checkpointOf()
	k, err := serialize.ReadCheckpoint(path)
	if err != nil {
		t.Fatal(err)
	}
	k.Recipe = []byte(`{"later":1}`)
	unknown := filepath.Join(t.TempDir(), "later.bnc")
	if err := serialize.WriteCheckpoint(unknown, k); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path   string
		change func(*recipe.Recipe)
		want   string
	}{
		{"", func(*recipe.Recipe) {}, ""},
		{filepath.Join(t.TempDir(), "none"), func(*recipe.Recipe) {}, ""},
		{path, func(*recipe.Recipe) {}, ""},
		{path, func(r *recipe.Recipe) { r.Kernels = "other" }, ""},
		{path, func(r *recipe.Recipe) { r.Seed = 8 }, "another run: seed is 8, was 7;"},
		{path, func(r *recipe.Recipe) { r.Seed, r.Batch = 8, 4 }, "seed is 8, was 7, and 1 more difference;"},
		{path, func(r *recipe.Recipe) { r.Seed, r.Batch, r.LR = 8, 4, 1 }, "and 2 more differences;"},
		{unknown, func(*recipe.Recipe) {}, "another run (recipe"},
		{"replaceable_test.go", func(*recipe.Recipe) {}, "not a checkpoint that this run could replace"},
	} {
		r := b.recipe
		c.change(&r)
		err := Replaceable(c.path, &r)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.path, err, c.want)
		}
	}
}
