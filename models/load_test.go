package models_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// build returns an initialised model.
func build(t *testing.T, name string, o models.Options, seed uint64) *models.Model {
	t.Helper()
	m, err := models.Build(name, o)
	if err == nil {
		err = models.Init(m, seed)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// With another number of classes, all layers except the last one are loaded from the other
// model.
func TestInitFromAnotherNumberOfClasses(t *testing.T) {
	from, to := build(t, "lenet-bn", models.Options{}, 1), build(t, "lenet-bn", models.Options{Classes: 7}, 2)
	from.State["extra"] = tensor.New(tensor.F32, 1)
	head := to.State["fc2.weight"].Clone()
	l, err := models.InitFrom(to, from.State)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Matched) != len(to.State)-2 || len(l.Mismatched) != 2 ||
		!slices.Equal(l.Unused, []string{"extra"}) || l.Missing != nil {
		t.Errorf("loaded %+v", l)
	}
	if want := "12 tensors taken, 2 of another shape (fc2.weight: f32[10,512] there, f32[7,512] here, " +
		"fc2.bias: f32[10] there, f32[7] here), 1 of the file not used (extra)"; l.String() != want {
		t.Errorf("report %q, want %q", l, want)
	}
	if !tensor.Equal(to.State["conv1.weight"], from.State["conv1.weight"]) ||
		!tensor.Equal(to.State["fc2.weight"], head) {
		t.Error("the wrong tensors were taken")
	}
	to.State["conv1.weight"].F32()[0]++
	if tensor.Equal(to.State["conv1.weight"], from.State["conv1.weight"]) {
		t.Error("the models share memory")
	}
	if err := to.Check(); err != nil {
		t.Error(err)
	}
}

func TestInitFromConverts(t *testing.T) {
	m := build(t, "mlp-bn", models.Options{}, 1)
	if _, err := models.InitFrom(m,
		map[string]tensor.Tensor{"fc3.bias": tensor.Of(make([]float64, 10), 10)}); err != nil {
		t.Fatal(err)
	}
	if got := m.State["fc3.bias"]; got.DType != tensor.F32 || got.F32()[3] != 0 {
		t.Errorf("fc3.bias is %v", got)
	}
}

// TestInitFromNotFinite: a tensor with NaN or infinity is refused, for every role, and the
// model stays unchanged.
func TestInitFromNotFinite(t *testing.T) {
	for name, v := range map[string]float64{"bn1.running_var": math.NaN(), "fc1.weight": math.Inf(-1)} {
		m, other := build(t, "mlp-bn", models.Options{}, 1), build(t, "mlp-bn", models.Options{}, 2)
		before := m.Clone()
		values := other.State[name].F32()
		values[3], values[5] = float32(v), float32(v)
		_, err := models.InitFrom(m, other.State)
		want := fmt.Sprintf("model mlp-bn: tensor %s: NaN or infinite in 2 of %d values; take a file from "+
			"before it broke; doctor with repair estimates running statistics anew", name, len(values))
		if fmt.Sprint(err) != want {
			t.Errorf("error %v\nwant %s", err, want)
		}
		if !tensor.Equal(m.State["fc2.weight"], before.State["fc2.weight"]) {
			t.Error("the model was changed")
		}
	}
}

func TestInitFromNothingThatFits(t *testing.T) {
	m, other := build(t, "mlp-bn", models.Options{}, 1), build(t, "resnet20", models.Options{}, 1)
	before := m.Clone()
	_, err := models.InitFrom(m, other.State)
	if err == nil || !strings.Contains(err.Error(), "none of the") {
		t.Errorf("error %v", err)
	}
	if !tensor.Equal(m.State["fc1.weight"], before.State["fc1.weight"]) {
		t.Error("the model was changed")
	}
}

// TestInitFromOtherWidths loads a file with almost no tensors of the right shape. The error
// names the probable network and the remedy. A new head is not an error.
func TestInitFromOtherWidths(t *testing.T) {
	for _, all := range []bool{true, false} {
		m, other := build(t, "resnet20", models.Options{}, 1), build(t, "resnet20", models.Options{}, 1)
		for name, x := range other.State {
			if all && name != "conv1.weight" || name == "fc.weight" {
				other.State[name] = tensor.New(x.DType, append([]int{1}, x.Shape...)...)
			}
		}
		got, err := models.InitFrom(m, other.State)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(got.String(), "of other widths, and training begins nearly from nothing") != all {
			t.Errorf("all of another shape %v: %v", all, got)
		}
	}
}

func TestFrozen(t *testing.T) {
	m := build(t, "resnet20", models.Options{}, 1)
	for _, c := range []struct {
		patterns []string
		want     int
		err      string
	}{
		{nil, 0, ""},
		{[]string{"conv1.weight"}, 1, ""},
		{[]string{"layer1.*"}, 18, ""},
		{[]string{"*.bn?.weight", "bn1.bias"}, 19, ""},
		{[]string{"*"}, 59, ""},
		{[]string{"*.running_mean"}, 0, "matches no weight"},
		{[]string{"layer9.*"}, 0, "conv1.weight, bn1.weight, bn1.bias, ..."},
		{[]string{"["}, 0, "syntax error"},
	} {
		got, err := models.Frozen(m.Graph.State, c.patterns)
		if len(got) != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(),
			c.err) {
			t.Errorf("%q: %d tensors, error %v, want %d, %q", c.patterns, len(got), err, c.want, c.err)
		}
	}
}

// A network for pixels loads its backbone from a classifier, without the head.
func TestInitFromClassifier(t *testing.T) {
	small := models.Options{Input: models.Size{Height: 64, Width: 64, Channels: 3}}
	from, err := models.Build("resnet50", small)
	if err != nil {
		t.Fatal(err)
	}
	to, err := models.Build("fcn-resnet50", small)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range from.Graph.State {
		from.State[s.Name] = tensor.New(s.DType, s.Shape...)
	}
	from.State["conv1.weight"].F32()[5] = 3
	l, err := models.InitFrom(to, from.State)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Matched) != len(from.State)-2 || !slices.Equal(l.Unused, []string{"fc.bias", "fc.weight"}) {
		t.Errorf("%v", l)
	}
	if got := to.State["backbone.conv1.weight"].F32()[5]; got != 3 {
		t.Errorf("the backbone has %v, want 3", got)
	}
}

// Lite R-ASPP loads the features of a MobileNetV3 classifier, without its head.
// TestStateIsCalledAsInPyTorch checks that the names and shapes of its backbone are those
// of torchvision.
func TestInitFromMobileNetV3(t *testing.T) {
	to := build(t, "lraspp-mobilenetv3-large",
		models.Options{Input: models.Size{Height: 64, Width: 64, Channels: 3}}, 1)
	from := map[string]tensor.Tensor{"classifier.0.weight": tensor.New(tensor.F32, 1280, 960)}
	for _, s := range to.Graph.State {
		if inner, ok := strings.CutPrefix(s.Name, "backbone."); ok {
			from["features."+inner] = tensor.New(s.DType, s.Shape...)
		}
	}
	from["features.0.0.weight"].F32()[7] = 3
	l, err := models.InitFrom(to, from)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Matched) != len(from)-1 || !slices.Equal(l.Unused, []string{"classifier.0.weight"}) ||
		slices.ContainsFunc(l.Missing, func(name string) bool { return !strings.HasPrefix(name, "classifier.") }) {
		t.Errorf("%v", l)
	}
	if got := to.State["backbone.0.0.weight"].F32()[7]; got != 3 {
		t.Errorf("the backbone has %v, want 3", got)
	}
}

// SSDlite loads a MobileNetV3 classifier up to the depthwise layers of block 13. The later
// layers have half of the classifier's channels.
func TestInitSSDliteFromMobileNetV3(t *testing.T) {
	small := models.Options{Input: models.Size{Height: 64, Width: 64, Channels: 3}}
	from := build(t, "mobilenetv3-large", small, 1)
	to := build(t, "ssdlite320-mobilenetv3-large", models.Options{}, 2)
	from.State["features.12.block.3.0.weight"].F32()[5] = 3
	from.State["features.13.block.2.fc1.weight"].F32()[7] = 4
	l, err := models.InitFrom(to, from.State)
	if err != nil {
		t.Fatal(err)
	}
	whole := 0 // tensors up to the channel weights of block 13
	for _, s := range from.Graph.State {
		var layer, part int
		fmt.Sscanf(s.Name, "features.%d.block.%d", &layer, &part)
		if strings.HasPrefix(s.Name, "features.") && (layer < 13 || layer == 13 && part < 3) {
			whole++
		}
	}
	if len(l.Matched) != whole || !slices.Contains(l.Matched, "backbone.features.1.0.2.fc1.weight") {
		t.Errorf("%d of %d tensors fit: %v", len(l.Matched), whole, l)
	}
	for _, s := range to.Graph.State {
		rest := slices.ContainsFunc(l.Mismatched, func(m string) bool { return strings.HasPrefix(m, s.Name+": ") })
		if strings.HasPrefix(s.Name, "backbone.features.") && !rest && !slices.Contains(l.Matched, s.Name) {
			t.Errorf("%s has no tensor in the classifier", s.Name)
		}
	}
	if a, b := to.State["backbone.features.0.12.block.3.0.weight"].F32()[5],
		to.State["backbone.features.1.0.2.fc1.weight"].F32()[7]; a != 3 || b != 4 {
		t.Errorf("%v and %v, want 3 and 4", a, b)
	}
}
