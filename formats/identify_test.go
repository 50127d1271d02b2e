package formats

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/internal/shareddata"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

func checkpoint(t *testing.T, name string) string {
	t.Helper()
	return shareddata.File(t, "checkpoints/"+name)
}

// stateOf builds an architecture with new weights and returns its tensors, named
// prefix+name.
func stateOf(t *testing.T, name, prefix string, classes int) []Tensor {
	t.Helper()
	m, err := models.Build(name, models.Options{Classes: classes})
	if err != nil {
		t.Fatal(err)
	}
	if err := models.Init(m, 1); err != nil {
		t.Fatal(err)
	}
	tensors := Tensors(m)
	for i, x := range tensors {
		tensors[i] = x.Renamed(prefix + x.Name)
	}
	return tensors
}

func TestIdentify(t *testing.T) {
	for _, c := range []struct {
		name, prefix string
		classes      int
	}{
		{"resnet20", "", 10}, {"resnet20", "", 7}, {"resnet18", "", 5}, {"mobilenetv2", "", 1000},
		{"lenet-bn", "", 10}, {"resnet20", "model.", 10}, {"resnet18", "net.backbone.", 1000},
	} {
		f := &File{Tensors: stateOf(t, c.name, c.prefix, c.classes)}
		f.Tensors = append(f.Tensors, InMemory(c.prefix+"bn1.num_batches_tracked", tensor.Scalar[int64](3)))
		m, err := Identify(f)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		full, err := apply(f, m)
		if err != nil || m.Architecture != c.name {
			t.Errorf("%+v: found %s, %v", c, m.Architecture, err)
			continue
		}
		if got := full.Graph.State[len(full.Graph.State)-1].Shape[0]; got != c.classes {
			t.Errorf("%+v: %d classes", c, got)
		}
	}
}

// TestSameNames checks that one of two architectures with the same tensor names is assumed
// and reported, and that the caller can name the other one.
func TestSameNames(t *testing.T) {
	for name, other := range map[string]string{"resnet50": "resnet50-v1", "resnet101": "resnet101-v1", "resnet152": "resnet152-v1"} {
		f := &File{Tensors: stateOf(t, other, "", 10)}
		m, err := Identify(f)
		if err != nil || m.Architecture != name {
			t.Fatalf("%s: found %v, %v", other, m, err)
		}
		if len(f.Findings) != 1 || !strings.Contains(f.Findings[0].Text, "taken for "+name+",") ||
			!strings.HasSuffix(f.Findings[0].Advice, other) {
			t.Errorf("%s: findings %+v", other, f.Findings)
		}
		as, err := models.Build(other, models.Options{Classes: 10})
		if err == nil {
			_, err = apply(f, as)
		}
		if err != nil {
			t.Errorf("%s, named: %v", other, err)
		}
	}
	f := &File{Tensors: stateOf(t, "resnet18", "", 10)}
	if _, err := Identify(f); err != nil || len(f.Findings) != 0 {
		t.Errorf("resnet18: %v, findings %+v", err, f.Findings)
	}
}

func TestIdentifyRefuses(t *testing.T) {
	all := stateOf(t, "resnet20", "", 10)
	odd := InMemory("extra.weight", tensor.New(tensor.F32, 2))
	for _, c := range []struct {
		tensors []Tensor
		want    string
	}{
		{append(all[:len(all):len(all)], odd), "1 tensor fits nothing (extra.weight f32[2])"},
		{all[1:], "1 parameter got none (conv1.weight f32[16,3,3,3])"},
		{[]Tensor{odd, odd.Renamed("other.weight")}, "no architecture of the zoo fits these 2 tensors; they are called"},
		{append(ones("fc.weight:2,3,4"), without("fc.weight")(all)...), "the nearest is resnet20"},          // of another rank
		{[]Tensor{odd}, "no architecture of the zoo fits its one tensor; they are called \"extra.weight\""}, // no architecture is near
	} {
		_, err := Identify(&File{Tensors: c.tensors})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// TestIdentifyCountsClasses finds the number of classes, from two on, wherever the last
// layer is.
func TestIdentifyCountsClasses(t *testing.T) {
	for _, classes := range []int{2, 7} {
		tensors := stateOf(t, "mlp-bn", "", classes)
		slices.Reverse(tensors)
		m, err := Identify(&File{Tensors: tensors})
		if err != nil || m.Graph.State[len(m.Graph.State)-1].Shape[0] != classes {
			t.Errorf("%d classes: %v, %v", classes, m, err)
		}
	}
}

// TestIdentifySaysTheNearest checks that the error describes the best fit after removing
// any number of prefixes, and that Identify removes at most maxPrefixes of them.
func TestIdentifySaysTheNearest(t *testing.T) {
	var some []Tensor
	for _, x := range stateOf(t, "resnet20", "", 10) {
		if strings.HasPrefix(x.Name, "layer1.0.") {
			some = append(some, x)
		}
	}
	want := fmt.Sprintf("%d tensors fit; ", len(some))
	if _, err := Identify(&File{Tensors: some}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a part of a model: %v, want one with %q", err, want)
	}
	if m, err := Identify(&File{Tensors: stateOf(t, "mlp-bn", "a.b.c.d.", 10)}); err == nil {
		t.Errorf("behind four prefixes: %s", m.Architecture)
	}
}

func TestPublishedResNets(t *testing.T) {
	for file, want := range map[string]string{"resnet20-12fca82f.th": "resnet20",
		"resnet56-4bfd9763.th": "resnet56"} {
		f, err := Open(checkpoint(t, "pytorch/"+file), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m, err := Identify(f)
		if err != nil || m.Architecture != want {
			t.Fatalf("%s: %v", file, err)
		}
		if _, err := apply(f, m); err != nil {
			t.Error(err)
		}
		if got := fmt.Sprint(f.Format, f.Wrappers); got != "pytorch legacy[state_dict module.]" {
			t.Errorf("%s: %s", file, got)
		}
	}
}

// TestSaveKeeps writes the tensors that were read, in both formats, and compares.
func TestSaveKeeps(t *testing.T) {
	f, err := Open("torch/testdata/cases/types_zip.pth", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, ending := range []string{".pth", ".safetensors"} {
		path := filepath.Join(t.TempDir(), "out"+ending)
		if _, err := Save(path, f.Tensors); err != nil {
			t.Fatal(err)
		}
		g, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		if got, want := fmt.Sprint(g.Tensors), fmt.Sprint(f.Tensors); got != want {
			t.Errorf("%s: %s, want %s", ending, got, want)
		}
		for i, x := range g.Tensors {
			got, err1 := x.Load()
			want, err2 := f.Tensors[i].Load()
			if err1 != nil || err2 != nil || !tensor.Equal(got, want) {
				t.Errorf("%s: %v differs (%v, %v)", ending, x, err1, err2)
			}
		}
	}
	if _, err := Save("x.onnx", f.Tensors); err == nil {
		t.Error("an ending that keeps no bare tensors was taken")
	}
}

// TestIdentifyAdvises: the error has one remedy, with the nearest network: for other
// widths, for other layers, for a tensor that belongs to no layer, for missing statistics,
// and for batch norms that torch.ao has put into convolutions.
func TestIdentifyAdvises(t *testing.T) {
	same := func(name string, shape []int) (string, []int) { return name, shape }
	for _, c := range []struct {
		change func(string, []int) (string, []int)
		more   string
		want   string
	}{
		{same, "layer1.30.conv1.weight layer1.30.conv2.weight", "the nearest is resnet20: 97 tensors fit; " +
			"2 tensors fit nothing (*): it has other layers: name an ONNX file of it with arch, or train resnet20 " +
			"from what fits with init"},
		{same, "layer1.30.conv1.weight one.more two.more", "3 tensors fit nothing (*); if no layer needs them, " +
			"leave them out: drop 'layer1.30.conv1.weight': name the model with arch, or write .pth or " +
			".safetensors, which need none"},
		{func(name string, shape []int) (string, []int) {
			return strings.Replace(name, "layer1.2.", "layer1.30.", 1), shape
		}, "", "the nearest is resnet20: 87 tensors fit; * more): it has other layers: name an ONNX file of it " +
			"with arch, or train resnet20 from what fits with init"},
		{func(name string, shape []int) (string, []int) {
			for i, n := range shape {
				if n%16 == 0 {
					shape[i] = n / 2
				}
			}
			return name, shape
		}, "", "the nearest is resnet20: 1 tensor fits; * 92 more): it has other widths: name an ONNX file of it " +
			"with arch, or train resnet20 from what fits with init"},
		{func(name string, shape []int) (string, []int) {
			if strings.Contains(name, ".running_") {
				return "", nil
			}
			return name, shape
		}, "", "more): all but the running statistics is there: doctor with repair estimates them over data"},
		{func(name string, shape []int) (string, []int) {
			if rest, ok := strings.CutPrefix(name, "bn1."); ok {
				return "conv1.bn." + rest, shape
			}
			return name, shape
		}, "", "): quantisation was simulated in training (torch.ao), with batch norms inside of convolutions: " +
			"save the float model from before prepare_qat, or name an ONNX file of it with arch"},
	} {
		f := &File{Format: "pytorch zip", Tensors: []Tensor{torn(t, "conv1.weight_fake_quant.scale", 1)}}
		for _, x := range stateOf(t, "resnet20", "", 10) {
			if name, shape := c.change(x.Name, slices.Clone(x.Shape)); name != "" {
				f.Tensors = append(f.Tensors, torn(t, name, shape...))
			}
		}
		for name := range strings.FieldsSeq(c.more) {
			f.Tensors = append(f.Tensors, torn(t, name, 1))
		}
		leaveRemoved(f)
		_, err := Identify(f)
		before, after, _ := strings.Cut(c.want, "*")
		if err == nil || !strings.Contains(err.Error(), before) || !strings.HasSuffix(err.Error(), after) {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}
