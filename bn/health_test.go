package bn_test

import (
	"math"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/bn"
	"github.com/bnctl/bnctl/tensor"
)

func TestExamine(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	f := func(v ...float32) tensor.Tensor { return tensor.Of(v, len(v)) }
	cases := []struct {
		name     string
		norm     bn.Norm
		severity bn.Severity // "" for no finding
		channels []int
	}{
		{"healthy", bn.Norm{Mean: f(1, -2), Variance: f(3, 1e5), Gamma: f(1, -1)}, "", nil},
		{"NaN mean", bn.Norm{Mean: f(1, nan), Variance: f(1, 2)}, bn.Fault, []int{1}},
		{"infinite variance", bn.Norm{Mean: f(1, 2), Variance: f(inf, 2)}, bn.Fault, []int{0}},
		{"negative variance", bn.Norm{Mean: f(1, 2, 3), Variance: f(-1, 2, -1e-9)}, bn.Fault, []int{0, 2}},
		{"untouched", bn.Norm{Mean: f(0, 0), Variance: f(1, 1)}, bn.Fault, nil},
		{"trained, untouched", bn.Norm{Mean: f(0, 0), Variance: f(1, 1), Gamma: f(1, 2), Beta: f(0, 0)}, bn.Fault,
			nil},
		{"trained beta, untouched", bn.Norm{Mean: f(0, 0), Variance: f(1, 1), Gamma: f(1, 1), Beta: f(0, 1e-9)},
			bn.Fault, nil},
		{"counted, untouched", bn.Norm{Mean: f(0, 0), Variance: f(1, 1), Gamma: f(1, 1), Updates: 3}, bn.Fault,
			nil},
		{"new", bn.Norm{Mean: f(0, 0), Variance: f(1, 1), Gamma: f(1, 1), Beta: f(0, 0)}, bn.Warning, nil},
		{"no data", bn.Norm{Mean: f(0, 0), Variance: f(0, 0)}, bn.Fault, nil},
		{"variances lost", bn.Norm{Mean: f(0.5, 0), Variance: f(0, 0)}, bn.Fault, nil},
		{"no variance", bn.Norm{Mean: f(0, 0)}, bn.Fault, nil},
		{"nothing", bn.Norm{}, bn.Fault, nil},
		{"shapes", bn.Norm{Mean: f(1, 2), Variance: f(1)}, bn.Fault, nil},
		{"gamma's shape", bn.Norm{Mean: f(1, 2), Variance: f(1, 2), Gamma: f(1)}, bn.Fault, nil},
		{"NaN gamma", bn.Norm{Mean: f(1, 2), Variance: f(1, 2), Gamma: f(1, nan)}, bn.Fault, []int{1}},
		{"zero variance", bn.Norm{Mean: f(1, 0), Variance: f(1, 0)}, bn.Warning, []int{1}},
		{"silent", bn.Norm{Mean: f(1, 0), Variance: f(1, 1e-36)}, bn.Warning, []int{1}},
		{"huge", bn.Norm{Mean: f(1, 2), Variance: f(1, 1e7)}, bn.Warning, []int{1}},
		{"dead gamma", bn.Norm{Mean: f(1, 2), Variance: f(1, 2), Gamma: f(1e-6, 1)}, bn.Warning, []int{0}},
		{"unsettled", bn.Norm{Mean: f(1), Variance: f(2), Updates: 100, Decay: 0.99}, bn.Warning, nil},
		{"not counted", bn.Norm{Mean: f(1), Variance: f(2), Updates: -1, Decay: 0.9}, "", nil},
		{"never counted", bn.Norm{Mean: f(1), Variance: f(2), Updates: 0, Decay: 0.9}, "", nil},
		{"NaN after an update", bn.Norm{Mean: f(nan), Variance: f(2), Updates: 1, Decay: 0.9}, bn.Fault, []int{0}},
		{"means 0", bn.Norm{Mean: f(0, 0), Variance: f(2, 3)}, "", nil},
		{"settled", bn.Norm{Mean: f(1), Variance: f(2), Updates: 1000, Decay: 0.99}, "", nil},
	}
	for _, c := range cases {
		c.norm.Name = c.name
		found := bn.Examine([]bn.Norm{c.norm})
		switch {
		case c.severity == "" && len(found) > 0, c.severity != "" && len(found) != 1:
			t.Errorf("%s: findings %+v", c.name, found)
		case c.severity == "":
		case found[0].Severity != c.severity, !slices.Equal(found[0].Channels, c.channels),
			found[0].Layer != c.name:
			t.Errorf("%s: finding %+v, want a %s in channels %v", c.name, found[0], c.severity, c.channels)
		}
	}
}

// TestExamineSays compares the sentences of all kinds of findings.
func TestExamineSays(t *testing.T) {
	f := func(v ...float32) tensor.Tensor { return tensor.Of(v, len(v)) }
	for want, n := range map[string]bn.Norm{
		"running mean and variance are missing": {},
		"the running mean is missing":           {Variance: f(1)},
		"the running variance is missing":       {Mean: f(1)},
		"after 1 update with decay 0.9 the statistics are still 90 % their initial values": {
			Mean: f(1), Variance: f(2), Updates: 1, Decay: 0.9},
		"after 2 updates with decay 0.9 the statistics are still 81 % their initial values": {
			Mean: f(1), Variance: f(2), Updates: 2, Decay: 0.9},
		"shapes do not fit: mean f64[1], variance f32[1], gamma none, beta none": {
			Mean: tensor.Of([]float64{1}, 1), Variance: f(1)},
		"shapes do not fit: mean f32[1,1], variance f32[1,1], gamma none, beta none": {
			Mean: tensor.Of([]float32{1}, 1, 1), Variance: tensor.Of([]float32{1}, 1, 1)},
	} {
		if found := bn.Examine([]bn.Norm{n}); len(found) != 1 || found[0].Problem != want {
			t.Errorf("findings %+v\nwant %s", found, want)
		}
	}
	both := bn.Norm{Mean: f(1), Variance: f(2), Gamma: f(1e-6), Updates: 1, Decay: 0.9}
	if found := bn.Examine([]bn.Norm{both}); len(found) != 2 {
		t.Errorf("findings %+v, want two: a dead gamma, and few updates", found)
	}
}

// TestNames checks the names that users would write.
func TestNames(t *testing.T) {
	_, mode := bn.ParseMode("synch")
	_, rule := bn.ParseRule("median")
	for want, err := range map[string]error{
		`unknown batch norm mode "synch", want sync, replica or frozen`: mode,
		`unknown statistics rule "median", want pooled, mean or first`:  rule,
	} {
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A layer with the values of a new layer is a fault if other layers of the model are trained.
func TestExamineUntouchedAmongTrained(t *testing.T) {
	norm := func(name string, mean float32) bn.Norm {
		return bn.Norm{Name: name, Mean: tensor.Of([]float32{mean}, 1), Variance: tensor.Of([]float32{1}, 1),
			Gamma: tensor.Of([]float32{1}, 1), Updates: -1}
	}
	found := bn.Examine([]bn.Norm{norm("a", 0.5), norm("b", 0)})
	if len(found) != 1 || found[0].Layer != "b" || found[0].Severity != bn.Fault {
		t.Errorf("findings %+v, want a fault in b", found)
	}
}

func TestExamineComparesCounters(t *testing.T) {
	norm := func(name string, updates int64) bn.Norm {
		return bn.Norm{Name: name, Mean: tensor.Of([]float32{1}, 1), Variance: tensor.Of([]float32{2}, 1),
			Updates: updates}
	}
	found := bn.Examine([]bn.Norm{norm("a", -1), norm("b", 10), norm("c", 10), norm("d", 7), norm("e", -1)})
	if len(found) != 1 || found[0].Layer != "d" {
		t.Errorf("findings %+v, want one for d", found)
	}
	found = bn.Examine([]bn.Norm{norm("a", 10), norm("b", 0)})
	if len(found) != 1 || found[0].Layer != "b" {
		t.Errorf("findings %+v, want one for b, which was never updated", found)
	}
	found = bn.Examine([]bn.Norm{norm("a", 0), norm("b", 10)}) // here a count of 0 is a known count
	if len(found) != 1 || found[0].Layer != "b" {
		t.Errorf("findings %+v, want one for b", found)
	}
}
