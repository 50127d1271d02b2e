package models_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
)

// A new head gives the model that the zoo builds for that number of classes.
func TestWithClasses(t *testing.T) {
	for _, a := range models.Architectures() {
		m, err := models.Build(a.Name, models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := models.WithClasses(m, 7)
		if err != nil {
			t.Fatal(err)
		}
		want, err := models.Build(a.Name, models.Options{Classes: 7})
		if err != nil {
			t.Fatal(err)
		}
		if g, w := string(got.Graph.Text()), string(want.Graph.Text()); g != w {
			t.Errorf("%s: the graph is\n%.400s\nwant\n%.400s", a.Name, g, w)
		}
		if same, err := models.WithClasses(m, a.Classes); err != nil || same != m {
			t.Errorf("%s: as many classes as before make another model: %v", a.Name, err)
		}
	}
}

// headed returns a model of images f32[3,4,4] that ends in lines.
func headed(t *testing.T, lines string) *models.Model {
	t.Helper()
	g, err := graph.ParseGraph(fmt.Appendf(nil,
		"bnctl graph 1\ngraph \"g\"\nstate k f32[5,3,1,1] weight zeros\nstate b f32[5] bias zeros\nfunc "+
			"main(x rows f32[3,4,4]) {\n%s\n  return y rows = y\n}\n", lines))
	if err != nil {
		t.Fatal(err)
	}
	m, err := models.New(g)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestWithClassesOfOthers(t *testing.T) {
	for lines, want := range map[string]string{
		"c = conv(x, @k, @b)\np = global_avg_pool(c)\nr = reshape(p, shape=[5])\ny = softmax(r)": "rows f32[9]",
		"c = conv(x, @k, @b)\ny = upsample(c, size=[8,8])":                                       "rows f32[9,8,8]",
		"c = conv(x, @k, @b)\ny = reshape(c, shape=[80])":                                        "mixes classes with places",
		"c = conv(x, @k, @b)\na = max_pool(c, kernel=[2,2])\ny = reduce_mean(a, axes=[1,2])":     "rows f32[9]",
		"c = conv(x, @k, @b)\nn = batch_norm(c, @b, @b, @b, @b)\ny = sigmoid(n)":                 "rows f32[9,4,4]",
		"c = conv(x, @k, @b)\ny = reduce_max(c, axes=[0])":                                       "mixes classes with each other",
		"c = conv(x, @k, @b)\ny = tanh(c)":                                                       "y (tanh) comes after it",
		"c = conv(x, @k, @b)\ny = relu(c)":                                                       "rows f32[9,4,4]",
		"t = tanh(@k)\ny = conv(x, t, @b)":                                                       "the weights of y are computed",
		"s = slice(x, begin=[0,0,0], end=[3,1,1])\ny = reshape(s, shape=[3])": "s (slice) " +
			"comes after it",
	} {
		m, err := models.WithClasses(headed(t, lines), 9)
		switch {
		case err == nil:
			f := m.Graph.Main
			if got := f.Values[f.Outputs[0].Value].Type.String(); got != want {
				t.Errorf("%q: the output is %s, want %s", lines, got, want)
			}
			if err := m.Graph.Check(); err != nil {
				t.Errorf("%q: %v", lines, err)
			}
		case !strings.Contains(err.Error(), want):
			t.Errorf("%q: error %v, want %q", lines, err, want)
		}
	}
	if _, err := models.WithClasses(headed(t, "y = conv(x, @k, @b)"), 0); err == nil {
		t.Error("a head for no class is no error")
	}
}

// TestHeadsBeginNarrow tests heads with initial bounds that depend on their number of
// outputs. For at most 1000 classes the bounds are 1/sqrt(1000) (torchvision's EfficientNet
// with 1,000 classes) and sqrt(3/1000) (MNASNet). With the number of classes, four, they
// would be 0.5 and 0.87.
func TestHeadsBeginNarrow(t *testing.T) {
	for name, want := range map[string]float64{"efficientnet-b0": 0.0316227766, "efficientnet-v2-s": 0.0316227766,
		"mnasnet1-0": 0.0547722558} {
		m, err := models.Build(name, models.Options{Classes: 4})
		if err != nil {
			t.Fatal(err)
		}
		s := m.Graph.State[len(m.Graph.State)-2]
		if s.Init.Rule != "uniform" || s.Name != "classifier.1.weight" || math.Abs(s.Init.Args[0]-want) > 1e-9 {
			t.Errorf("%s: %s begins by %v, want uniform(%g)", name, s.Name, s.Init, want)
		}
	}
}
