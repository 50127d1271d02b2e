package formats

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/graph"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/tensor"
)

// timmNames is the output of scripts/peers/timm_names.py, gzipped.
//
//go:embed testdata/timm_names.txt.gz
var timmNames []byte

// timmFiles returns, for every network of the zoo that timm has, a file of its tensors as timm calls them.
func timmFiles(t *testing.T) (names []string, files map[string]*File, theirs map[string]string) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(timmNames))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	files, theirs = map[string]*File{}, map[string]string{}
	for line := range strings.Lines(string(text)) {
		first, second, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(second, "[") {
			names = append(names, first)
			files[first], theirs[first] = &File{Format: "pytorch zip"}, second
			continue
		}
		var shape []int
		if err := json.Unmarshal([]byte(second), &shape); err != nil {
			t.Fatal(err)
		}
		f := files[names[len(names)-1]]
		f.Tensors = append(f.Tensors, torn(t, first, shape...))
	}
	return names, files, theirs
}

func TestIdentifyTimm(t *testing.T) {
	names, files, theirs := timmFiles(t)
	if len(names) != 33 {
		t.Errorf("%d networks, want 33", len(names))
	}
	for _, name := range names {
		f := files[name]
		m, err := Identify(f)
		if err != nil {
			t.Errorf("%s: %v", theirs[name], err)
			continue
		}
		if m.Architecture != name || !compare(f.Tensors, m).exact() {
			t.Errorf("%s is taken for %s: %v", theirs[name], m.Architecture, compare(f.Tensors, m))
		}
		if a, err := models.Lookup(theirs[name]); err != nil || a.Name != name {
			t.Errorf("Lookup(%s): %s, %v; want %s", theirs[name], a.Name, err, name)
		}
		for i := range m.Graph.Main.Nodes {
			// timm's networks have PyTorch's eps, except for Inception.
			n, want := &m.Graph.Main.Nodes[i], 1e-5
			if name == "inception-v3" {
				want = 1e-3
			}
			if n.Op == graph.BatchNorm && n.Float("eps") != want {
				t.Errorf("%s: eps is %g, want %g", theirs[name], n.Float("eps"), want)
				break
			}
		}
	}
}

// TestTimmsOthers: a different network with the same names and shapes is rejected by its
// name, and a network with other numbers of channels is rejected, too.
func TestTimmsOthers(t *testing.T) {
	_, files, _ := timmFiles(t)
	for _, c := range []struct {
		network, called, arch string
		want                  string
	}{
		{"efficientnet-b0", "tf_efficientnet_b0_ns-c0e6a31c.pth", "", "timm's tf_efficientnet_b0_ns, whose tensors have"},
		{"mobilenetv3-large", "best.pth", "tf_mobilenetv3_large_100", "shapes of mobilenetv3-large; but it pads"},
		{"efficientnet-b0", "efficientnet_b0_ra.pth", "efficientnet_b0", ""},
		{"resnet18", "tf_efficientnet_b0.pth", "", ""}, // the file name contains no name of timm
	} {
		f := &File{FileName: c.called, Tensors: files[c.network].Tensors}
		f.Count("arch", c.arch)
		_, err := Identify(f)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s as %s, arch %s: %v, want %q", c.network, c.called, c.arch, err, c.want)
		}
	}
	narrow := &File{}
	for _, x := range files["regnet-x-400mf"].Tensors {
		shape := slices.Clone(x.Shape)
		for i, n := range shape {
			if n == 400 { // timm's regnetx_004 ends in 384 channels
				shape[i] = 384
			}
		}
		narrow.Tensors = append(narrow.Tensors, torn(t, x.Name, shape...))
	}
	if _, err := Identify(narrow); err == nil ||
		!strings.Contains(err.Error(), "the nearest is regnet-x-400mf") {
		t.Errorf("regnetx_004: %v", err)
	}
	if _, err := models.Lookup("tf_efficientnet_b0"); err == nil || !strings.Contains(err.Error(), "efficientnet-b0 is "+
		"the nearest") {
		t.Errorf("Lookup: %v", err)
	}
}

// TestTimmState initialises a model from timm's tensors: with a head for other classes,
// with a prefix, and with tensors that have another shape in timm.
func TestTimmState(t *testing.T) {
	_, files, _ := timmFiles(t)
	var tensors []Tensor
	for _, x := range files["mobilenetv3-small"].Tensors {
		v := tensor.New(tensor.F32, x.Shape...)
		v.F32()[len(v.F32())-1] = float32(len(v.F32()))
		tensors = append(tensors, InMemory("backbone."+x.Name, v))
	}
	m, err := models.Build("mobilenetv3-small", models.Options{Classes: 7})
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	f := &File{Format: "pytorch zip", Tensors: tensors}
	state, err := State(f, m)
	if err != nil {
		t.Fatal(err)
	}
	l, err := models.InitFrom(m, state)
	if err != nil || len(l.Mismatched) != 2 || len(l.Missing)+len(l.Unused) != 0 {
		t.Errorf("%v, %v", l, err)
	}
	w := m.State["classifier.0.weight"].F32()
	if last := w[len(w)-1]; last != 1024*576 {
		t.Errorf("the last element of conv_head is %g", last)
	}
	if !slices.ContainsFunc(f.Findings, func(n Finding) bool {
		return strings.Contains(n.Text, "another eps")
	}) {
		t.Errorf("findings %v", f.Findings)
	}
	whole, err := models.Build("mobilenetv3-small", models.Options{})
	if err == nil {
		whole, err = Template(&File{Format: "pytorch zip", Tensors: tensors}, whole)
	}
	if err != nil || whole.State["classifier.3.bias"].F32()[999] != 1000 {
		t.Errorf("with the architecture named: %v", err)
	}
}
