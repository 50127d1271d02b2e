package caffe

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/formats/internal/foreign"
)

// floats returns a blob with the elements v, which its file has in a single run.
func floats(shape []int, v ...float32) blob {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return blob{src: bytes.NewReader(b), shape: shape, chunks: []chunk{{count: int64(len(v)), step: 4}}}
}

// readText reads a description in text, with blobs for its layers, and returns the graph,
// or the reason why it was refused.
func readText(t *testing.T, text string, blobs map[string][]blob) (graph string, f *foreign.File) {
	t.Helper()
	const input = `input: "x" input_dim: 1 input_dim: 2 input_dim: 3 input_dim: 3 `
	n, err := parseText([]byte(input + text))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range n.layers {
		l.blobs = blobs[l.name]
	}
	f = &foreign.File{}
	m, err := n.model(f)
	if err != nil {
		return err.Error(), f
	}
	return string(m.Graph.Text()), f
}

const norm = `layer { name: "b" type: "BatchNorm" bottom: "x" top: "y" } `

// TestFraction: moving_average_fraction is the weight of the old value in the running
// statistics. A fraction of 1, which would never update them, counts as absent.
func TestFraction(t *testing.T) {
	two := []int{2}
	stats := []blob{floats(two, 1, 2), floats(two, 3, 4), floats([]int{1}, 1)}
	for fraction, want := range map[string]string{"0.75": "decay=0.75", "1": "decay=0.999", "1.5": "is 1.5;",
		"-0.25": "is -0.25;"} {
		text := strings.Replace(norm, `top: "y" }`,
			`top: "y" batch_norm_param { moving_average_fraction: `+fraction+` } }`, 1)
		got, f := readText(t, text, map[string][]blob{"b": stats})
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", fraction, got, want)
		}
		if found := len(f.Findings) == 1; found != (fraction == "1") {
			t.Errorf("%s: findings %v", fraction, f.Findings)
		}
	}
}

// TestScaleBehindNorm: gamma and beta come, channel by channel, from a Scale layer that is
// the only reader of the batch norm; otherwise they are 1 and 0, and the Scale layer
// becomes a separate multiplication.
func TestScaleBehindNorm(t *testing.T) {
	two := []int{2}
	stats := []blob{floats(two, 1, 2), floats(two, 3, 4), floats([]int{1}, 1)}
	gamma, beta := floats(two, 5, 6), floats(two, 7, 8)
	const apart = " = mul("
	for _, c := range []struct {
		name, text string
		scale      []blob
		want       string // "" if the layer is part of the norm
	}{
		{"by itself", `layer { name: "s" type: "Scale" bottom: "y" top: "z" }`, []blob{gamma}, ""},
		{"with bias", `layer { name: "s" type: "Scale" bottom: "y" top: "z" scale_param { bias_term: true } }`,
			[]blob{gamma, beta}, ""},
		{"in place", `layer { name: "s" type: "Scale" bottom: "y" top: "y" }`, []blob{gamma}, ""},
		{"another reader before", `layer { name: "r" type: "ReLU" bottom: "y" top: "r" } ` +
			`layer { name: "s" type: "Scale" bottom: "y" top: "z" }`, []blob{gamma}, apart},
		{"another reader behind", `layer { name: "s" type: "Scale" bottom: "y" top: "z" } ` +
			`layer { name: "r" type: "ReLU" bottom: "y" top: "r" }`, []blob{gamma}, apart},
		{"its name made anew", `layer { name: "s" type: "Scale" bottom: "y" top: "z" } ` +
			`layer { name: "r" type: "ReLU" bottom: "z" top: "y" } ` +
			`layer { name: "q" type: "ReLU" bottom: "y" top: "q" }`, []blob{gamma}, ""},
		{"of another blob", `layer { name: "s" type: "Scale" bottom: "x" top: "z" } ` +
			`layer { name: "r" type: "ReLU" bottom: "y" top: "r" }`, []blob{gamma}, apart},
		{"by a blob", `layer { name: "s" type: "Scale" bottom: "y" bottom: "x" top: "z" scale_param { axis: 0 } }`,
			nil, apart},
		{"over rows", `layer { name: "s" type: "Scale" bottom: "y" top: "z" scale_param { axis: 2 num_axes: 1 } }`,
			[]blob{floats([]int{3}, 1, 1, 1)}, "works over 1 axes from 2"},
		{"over channels and rows",
			`layer { name: "s" type: "Scale" bottom: "y" top: "z" scale_param { num_axes: 2 } }`,
			[]blob{floats([]int{2, 3}, 1, 1, 1, 1, 1, 1)}, "works over 2 axes from 1"},
		{"over an axis that there is not",
			`layer { name: "s" type: "Scale" bottom: "y" top: "z" scale_param { axis: 4 } }`,
			[]blob{gamma}, "axis 4"},
		{"apart, with bias", `layer { name: "s" type: "Scale" bottom: "x" top: "z" scale_param { bias_term: true } }`,
			[]blob{gamma, beta}, " = add("},
		{"by a blob, channel by channel", `layer { name: "s" type: "Scale" bottom: "y" bottom: "x" top: "z" }`,
			nil, "from axis 1"},
		{"without weights", `layer { name: "s" type: "Scale" bottom: "y" top: "z" }`, nil, "weight is blob 0"},
		{"without bias", `layer { name: "s" type: "Scale" bottom: "y" top: "z" scale_param { bias_term: true } }`,
			[]blob{gamma}, "bias is blob 1"},
	} {
		got, _ := readText(t, norm+c.text, map[string][]blob{"b": stats, "s": c.scale})
		if c.want == "" && (strings.Contains(got, apart) || strings.Contains(got, " = add(") ||
			!strings.Contains(got, "batch_norm(") || strings.Count(got, "\nstate") != len(stats)+1) ||
			!strings.Contains(got, c.want) {
			t.Errorf("%s: %s\nwant %q", c.name, got, c.want)
		}
	}
}

// TestStatisticsOfTheBatch: a file written by training states that it normalised by the
// statistics of the batch; it gets a remark. A description that requests this in prediction
// is rejected. A description that leaves it open is accepted.
func TestStatisticsOfTheBatch(t *testing.T) {
	two := []int{2}
	stats := []blob{floats(two, 1, 2), floats(two, 3, 4), floats([]int{1}, 1)}
	for _, c := range []struct {
		setting string
		phase   int
		remark  bool
		refused bool
	}{
		{"batch_norm_param { use_global_stats: false }", train, true, false},
		{"batch_norm_param { use_global_stats: true }", train, false, false},
		{"", train, false, false},
		{"batch_norm_param { use_global_stats: false }", test, false, true},
		{"batch_norm_param { use_global_stats: true }", test, false, false},
		{"", test, false, false},
	} {
		n, err := parseText([]byte(`input: "x" input_dim: 1 input_dim: 2 input_dim: 3 input_dim: 3 ` +
			`layer { name: "b" type: "BatchNorm" bottom: "x" top: "y" ` + c.setting + ` }`))
		if err != nil {
			t.Fatal(err)
		}
		n.phase, n.layers[0].blobs = c.phase, stats
		f := &foreign.File{}
		_, err = n.model(f)
		if (err != nil) != c.refused || (len(f.Findings) == 1) != c.remark {
			t.Errorf("%q in phase %d: %v, %v", c.setting, c.phase, err, f.Findings)
		}
	}
}

// TestStatisticsThatDoNotFit rejects blobs of a wrong length, and a layer with too few
// blobs.
func TestStatisticsThatDoNotFit(t *testing.T) {
	two, one := []int{2}, []int{1}
	for want, blobs := range map[string][]blob{
		"has 2 blobs, want 3":  {floats(two, 1, 2), floats(two, 3, 4)},
		"running_mean: a blob": {floats([]int{3}, 1, 2, 3), floats(two, 3, 4), floats(one, 1)},
		"running_var: a blob":  {floats(two, 1, 2), floats([]int{3}, 3, 4, 5), floats(one, 1)},
		"factor: a blob":       {floats(two, 1, 2), floats(two, 3, 4), floats(two, 1, 1)},
	} {
		if got, _ := readText(t, norm, map[string][]blob{"b": blobs}); !strings.Contains(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// TestScaleByABlob: a second input scales the first from the batch on: [N,C] scales the
// channels of [N,C,H,W]; nothing else is supported.
func TestScaleByABlob(t *testing.T) {
	const pooled = `layer { name: "p" type: "Pooling" bottom: "x" top: "p" ` +
		`pooling_param { pool: AVE global_pooling: true } } layer { name: "f" type: "Flatten" bottom: "p" top: "f" } `
	for _, c := range []struct{ text, want string }{
		{`bottom: "x" bottom: "f" top: "z" scale_param { axis: 0 }`, " = reshape("},
		{`bottom: "x" bottom: "x" top: "z" scale_param { axis: 0 }`, " = mul("},
		{`bottom: "x" bottom: "f" top: "z"`, "from axis 1; only axis 0"},
		{`bottom: "x" bottom: "f" top: "z" scale_param { axis: 0 bias_term: true }`, "without bias"},
		{`bottom: "f" bottom: "x" top: "z" scale_param { axis: 0 }`, "only axis 0"},
		{`bottom: "x" bottom: "p" top: "z" scale_param { axis: 0 }`, "of one of shape"},
	} {
		got, _ := readText(t, pooled+`layer { name: "s" type: "Scale" `+c.text+` }`, nil)
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\nwant %s", c.text, got, c.want)
		}
		if c.want == " = mul(" && strings.Contains(got, " = reshape(x") {
			t.Errorf("%s: a reshape to the same shape: %s", c.text, got)
		}
	}
}

// TestBlobNames checks the names of a layer's blobs among the tensors.
func TestBlobNames(t *testing.T) {
	three := []blob{{}, {}, {}}
	for kind, want := range map[string]string{"BatchNorm": "running_mean running_var ", "PReLU": "weight bias blob2"} {
		l := &layer{kind: kind, blobs: three}
		if got := strings.Join([]string{l.blobName(0), l.blobName(1), l.blobName(2)}, " "); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

// TestRules: a layer is present if one of its include rules fits, or if none of its exclude
// rules fits. A layer without rules is always present.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		rules []rule
		there [2]bool // whether the layer is present in training, and in tests
	}{
		{nil, [2]bool{true, true}},
		{[]rule{{phase: train}}, [2]bool{true, false}},
		{[]rule{{phase: -1}}, [2]bool{true, true}},
		{[]rule{{phase: train}, {phase: test}}, [2]bool{true, true}},
		{[]rule{{phase: train, exclude: true}}, [2]bool{false, true}},
		{[]rule{{phase: -1, exclude: true}}, [2]bool{false, false}},
	} {
		l := &layer{rules: c.rules}
		for phase, there := range c.there {
			if l.absent(phase) == there {
				t.Errorf("%v in phase %d: absent %v", c.rules, phase, !there)
			}
		}
	}
}

// TestWeightsThatAreLeftOut: the weights of a layer that the description lacks are left
// out, with a remark. A layer without weights causes no remark.
func TestWeightsThatAreLeftOut(t *testing.T) {
	from := &net{layers: []*layer{
		{name: "kept", blobs: []blob{floats([]int{1}, 1)}},
		{name: "gone", blobs: []blob{floats([]int{1}, 1)}},
		{name: "empty"}}}
	f := &foreign.File{}
	n, err := from.described([]byte(`layer { name: "kept" type: "ReLU" bottom: "x" top: "y" }`), f)
	if err != nil || len(n.layers[0].blobs) != 1 {
		t.Fatalf("%v: %v", err, n)
	}
	if len(f.Findings) != 1 || f.Findings[0].Where != "gone" {
		t.Errorf("remarks %v, want one about gone", f.Findings)
	}
}
