package train

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/parallel/spmd"
	"github.com/bnctl/bnctl/recipe"
)

// An impossible run is refused, with the error of the failed check, before it uses a device.
func TestPlansThatAreRefused(t *testing.T) {
	unused := strings.NewReplacer("func main", "state idle f32[10] bias zeros\nfunc main", "  return logits rows = fc3",
		"  other = dense(relu2, @fc3.weight, @idle)\n  return logits rows = fc3\n  return more rows = other").
		Replace(networks["dense"])
	for _, c := range []struct {
		change func(r *recipe.Recipe, c *Config, m *models.Model) *models.Model
		want   string
	}{
		{func(r *recipe.Recipe, c *Config, m *models.Model) *models.Model { return m }, ""},
		{func(r *recipe.Recipe, c *Config, m *models.Model) *models.Model { r.LR = 0; return m }, "lr"},
		{func(r *recipe.Recipe, c *Config, m *models.Model) *models.Model { r.Data.Samples = 23; return m },
			"samples"},
		{func(r *recipe.Recipe, c *Config, m *models.Model) *models.Model { c.Train = nil; return m }, "data"},
		{func(r *recipe.Recipe, c *Config,
			m *models.Model) *models.Model {
			r.Freeze = []string{"["}
			return m
		}, "["},
		{func(r *recipe.Recipe, c *Config, m *models.Model) *models.Model { r.Freeze = []string{"*"}; return m },
			"nothing left to train"},
		{func(r *recipe.Recipe, c *Config, m *models.Model) *models.Model { r.ClassWeights = "1,2"; return m },
			"class-weights"},
		{func(r *recipe.Recipe, c *Config, m *models.Model) *models.Model { r.AuxWeight = 0.5; return m },
			"aux-weight"},
		{func(_ *recipe.Recipe, _ *Config, m *models.Model) *models.Model { return written(t, unused) }, "idle"},
	} {
		b := newBench(t, 24)
		config := b.config(1)
		m := c.change(&b.recipe, &config, b.model())
		p, err := newPlan(&b.recipe, m, config)
		if (err == nil) != (c.want == "") || (p == nil) != (err != nil) ||
			err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	b := newBench(t, 24)
	p, err := newPlan(&b.recipe, b.model(), b.config(1))
	if err != nil {
		t.Fatal(err)
	}
	r := b.recipe
	r.Optimizer = "sgn"
	_, err = Program(&r, p.template.Graph, p.wrapped, p.trained)
	if err == nil || !strings.Contains(err.Error(), "sgn") {
		t.Errorf("an optimizer that is none: %v", err)
	}
	if n := classesOf(p.template.Graph); n != 10 {
		t.Errorf("%d classes, want 10", n)
	}
	number := written(t, strings.NewReplacer("f32[3,4]", "f32[1,4]", "logits rows = fc",
		"logits rows = one").Replace(strings.Replace(tableGraph, "  return", "  one = reshape(fc, shape=[])\n  return", 1)))
	if n := classesOf(number.Graph); n != 0 {
		t.Errorf("%d classes of a number", n)
	}
}

// A program has the function estimate exactly if statistics are estimated again.
func TestFunctionsOfAProgram(t *testing.T) {
	for _, c := range []struct {
		change   func(*recipe.Recipe)
		estimate bool
	}{
		{func(*recipe.Recipe) {}, false}, {func(r *recipe.Recipe) { r.BNPrecise = 1 }, true},
		{func(r *recipe.Recipe) { r.EMA = 0.1 }, true},
		{func(r *recipe.Recipe) { r.BN, r.WeightSync = "replica", "periodic:2" }, true},
		{func(r *recipe.Recipe) { r.BN, r.WeightSync = "replica", "async:2" }, false},
	} {
		b := newBench(t, 24)
		c.change(&b.recipe)
		p, err := newPlan(&b.recipe, b.model(), b.config(1))
		if err != nil {
			t.Fatal(err)
		}
		has := p.program.Function(spmd.Estimate) != nil
		if has != c.estimate || p.program.Function(graph.Commit) == nil {
			t.Errorf("%s: estimate %v", b.recipe.JSON(), has)
		}
	}
}

// A template applies the EXIF orientation if its training did. If the data has no pictures, the setting of
// the model does not change.
func TestTemplateTurnsPicturesAsTheTraining(t *testing.T) {
	for _, c := range []struct {
		decoder, exif string
		was, want     bool
	}{{"2", "apply", false, true}, {"2", "ignore", true, false}, {"", "", true, true}, {"", "", false, false}} {
		b := newBench(t, 24)
		b.recipe.Decoder, b.recipe.EXIF = c.decoder, c.exif
		m := b.model()
		m.Preprocess.EXIF = c.was
		p, err := newPlan(&b.recipe, m, b.config(1))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.template.Preprocess.EXIF; got != c.want || m.Preprocess.EXIF != c.was {
			t.Errorf("decoder %q, exif %q, before %v: %v; the model that it begins with %v", c.decoder, c.exif,
				c.was, got, m.Preprocess.EXIF)
		}
	}
}

// With too few values in a replica, the wrapped graph has the batch norm that the recipe requests.
func TestWrappedAsTheRecipeSays(t *testing.T) {
	for min, running := range map[string]bool{"refuse": false, "running": true} {
		b := newBench(t, 24)
		b.recipe.BN, b.recipe.BNMin = bn.Replica, min
		m := b.model()
		p, err := newPlan(&b.recipe, m, b.config(1))
		if err != nil {
			t.Fatal(err)
		}
		want, err := spmd.Wrap(m.Graph, spmd.Options{Replicas: 4, BN: bn.Replica, Stats: bn.Pooled,
			MinRunning: running})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p.wrapped, want) {
			t.Errorf("%s: the graph is wrapped in another way", min)
		}
	}
}
