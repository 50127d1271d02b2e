package study

import "testing"

// manyWays returns results of more ways of training than fit into a drawing of fixed height. Their accuracies
// are at both ends of the scale.
func manyWays() *Results {
	r := made(5, 3)
	r.Batch, r.PerReplica = 128, []int{2, 4, 8, 16, 32}
	r.Runs, r.Speeds = nil, nil
	for _, s := range r.Settings() {
		for _, seed := range r.Seeds {
			run := Run{Setting: s, Seed: seed, Epochs: []Epoch{{1, 0.999, 2, nil, nil}, {2, 0.9991, 1, nil, nil}}}
			for _, name := range []string{"pooled", "mean", "first", "async:16", "posthoc", "precise"} {
				run.Scores = append(run.Scores, Score{name, 1000, 0.0001 * float64(seed), 2, nil, nil})
			}
			r.SetRun(run)
		}
		r.SetSpeed(Speed{Setting: s, Throughput: 123456})
	}
	return r
}

// Every text is inside its drawing, texts do not overlap, and no dot, bar or line ends on a
// letter.
func TestLabelsFit(t *testing.T) {
	for name, r := range map[string]*Results{"few": made(5, 0.2), "many": manyWays()} {
		plots := r.Plots()
		if len(plots) != 4 {
			t.Fatalf("%s: %d plots", name, len(plots))
		}
		for _, p := range plots {
			t.Run(name+"/"+p.Name, func(t *testing.T) { fits(t, read(t, p.File())) })
		}
	}
}

func fits(t *testing.T, d picture) {
	if len(d.texts) < 4 || len(d.points) < 4 {
		t.Fatalf("%d texts and %d points are no plot", len(d.texts), len(d.points))
	}
	for i, b := range d.texts {
		if b.left < 0 || b.top < 0 || b.right > d.width || b.bottom > d.height {
			t.Errorf("%+v is not within %g x %g", b, d.width, d.height)
		}
		for _, o := range d.texts[:i] {
			if b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom {
				t.Errorf("%+v covers %+v", b, o)
			}
		}
		for _, p := range d.points {
			if b.holds(p) {
				t.Errorf("something is drawn at %v, on %+v", p, b)
			}
		}
	}
}
