package quantize

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/serialize"
)

// Statistics that were never computed from data give no ranges. With a variance of 0, for
// example, x becomes x/sqrt(eps), which is about 300 times as far from beta as gamma
// allows. A model that was never trained only causes a note.
func TestStatisticsOfNoData(t *testing.T) {
	type values map[string]float64
	for name, c := range map[string]struct {
		set               values
		refused, saysOnly string
	}{
		"never trained": {nil, "", "never trained"},
		"trained":       {values{"bn1.running_mean": 0.5, "bn2.running_mean": 0.5}, "", ""},
		"variance 0": {values{"bn1.running_var": 0, "bn2.running_mean": 0.5},
			"bn1: mean and variance 0 throughout: no data ever came through: such statistics", ""},
		"variance 0, with means": {values{"bn1.running_var": 0, "bn1.running_mean": 1, "bn2.running_mean": 1},
			"bn1: variance 0 throughout", ""},
		"never updated": {values{"bn1.weight": 2},
			"bn1: mean 0 and variance 1 throughout: never updated, and 1 batch norm more like it", ""},
	} {
		m, _ := made(t, "lenet-bn")
		for state, v := range c.set {
			set(t, m, state, v)
		}
		said, dir := "", t.TempDir()
		o := Options{Input: filepath.Join(dir, "m.bnm"), Output: filepath.Join(dir, "q.bnm"),
			Note: func(format string, _ ...any) { said += format }}
		if _, err := serialize.WriteModel(o.Input, m); err != nil {
			t.Fatal(err)
		}
		_, err := File(context.Background(), o)
		if (err == nil) != (c.refused == "") || err != nil && (!strings.Contains(err.Error(), c.refused) ||
			!strings.Contains(err.Error(), "; give samples with data, or re-estimate the statistics")) {
			t.Errorf("%s: %v, want %q", name, err, c.refused)
		}
		if (said == "") != (c.saysOnly == "") || !strings.Contains(said, c.saysOnly) {
			t.Errorf("%s: said %q, want %q", name, said, c.saysOnly)
		}
	}
}
