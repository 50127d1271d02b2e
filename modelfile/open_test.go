package modelfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/data/images"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// files writes mlp-bn as a template and as tensors.
func files(t *testing.T) (m *models.Model, template, tensors string) {
	t.Helper()
	m, err := models.Build("mlp-bn", models.Options{})
	if err == nil {
		err = models.Init(m, 3)
	}
	if err != nil {
		t.Fatal(err)
	}
	template, tensors = filepath.Join(t.TempDir(), "m.bnm"), filepath.Join(t.TempDir(), "m.safetensors")
	if _, err = serialize.WriteModel(template, m); err == nil {
		_, err = formats.Save(tensors, formats.Tensors(m))
	}
	if err != nil {
		t.Fatal(err)
	}
	return m, template, tensors
}

// sameState fails unless got has the tensors of want, bit for bit.
func sameState(t *testing.T, got, want map[string]tensor.Tensor) {
	t.Helper()
	for name, x := range want {
		if !bytes.Equal(got[name].Bytes, x.Bytes) {
			t.Errorf("%s: other bytes than were written", name)
		}
	}
}

// Open and OpenReadOnly return the same model for a template and for a file of tensors.
// Only the file of another program has a Choice.
func TestOpen(t *testing.T) {
	want, template, tensors := files(t)
	for _, path := range []string{template, tensors} {
		m, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		sameState(t, m.State, want.State)
		if native := path == template; native != (m.Choice == nil) || native != m.Preprocess.Known {
			t.Errorf("%s: choice %v, preprocessing %v", path, m.Choice, m.Preprocess)
		}
		v, err := OpenReadOnly(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		sameState(t, v.State, want.State)
		if err := v.Verify(); err != nil {
			t.Error(err)
		}
		v.Close()
	}
}

// If a file changes while a model is a view of it, the error names the file.
func TestViewOfADamagedFile(t *testing.T) {
	_, path, _ := files(t)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := OpenReadOnly(path, Options{})
	if err != nil {
		return // found at once
	}
	defer v.Close()
	other := errors.New("other")
	if err := v.OrDamage(other); err == nil || errors.Is(err, other) {
		t.Errorf("%v is blamed", err)
	}
}

// A request that cannot be fulfilled returns a problem that names the option.
func TestProblems(t *testing.T) {
	_, template, tensors := files(t)
	for _, c := range []struct {
		path  string
		o     Options
		field string
	}{
		{template, Options{Arch: "mlp-bn"}, "arch"},
		{template, Options{Key: "model"}, "key"},
		{template, Options{Drop: []string{"*"}}, "drop"},
		{template, Options{EMA: true}, "ema"},
		{template, Options{Input: []int{1, 28, 28}}, "input"},
		{tensors, Options{Labels: []string{"a", "b"}}, "labels"},
		{tensors, Options{Preprocess: Preprocess{Name: "imagnet"}}, "preprocess"},
		{tensors, Options{Preprocess: Preprocess{Name: "none", Mean: []float64{0}}}, "preprocess"},
		{tensors, Options{Preprocess: Preprocess{EXIF: "sideways"}}, "exif"},
		{tensors, Options{Preprocess: Preprocess{Interpolation: "lanczos"}}, "interpolation"},
	} {
		for name, open := range map[string]func() error{
			"Open":         func() error { _, err := Open(c.path, c.o); return err },
			"OpenReadOnly": func() error { _, err := OpenReadOnly(c.path, c.o); return err },
		} {
			var p *problem.Error
			if err := open(); !errors.As(err, &p) || p.Field != c.field {
				t.Errorf("%s: %v, want a problem of %s", name, err, c.field)
			}
		}
	}
	var u *problem.Unknown
	if _, err := Open(tensors, Options{Arch: "lenet"}); !errors.As(err, &u) || !slices.Contains(u.Known, "lenet-bn") {
		t.Errorf("%v, want an unknown architecture", err)
	}
}

// A model from a file starts with the weights of the file; a model made by name starts with
// new ones.
func TestStart(t *testing.T) {
	want, template, _ := files(t)
	info := data.Info{Kind: "glyphs", DType: tensor.U8, Shape: []int{28, 28, 1}, Classes: make([]string, 10)}
	m, err := Start("mlp-bn", info, StartOptions{})
	if err != nil || m.Weights != "" {
		t.Fatalf("by name: %v, %v", m, err)
	}
	if m, err = Start(template, info, StartOptions{}); err != nil {
		t.Fatal(err)
	}
	sum, err := Digest(template)
	if err != nil || m.Weights != sum {
		t.Errorf("weights %s, the file is %s, %v", m.Weights, sum, err)
	}
	sameState(t, m.State, want.State)
	var p *problem.Error
	if _, err := Start(template, info, StartOptions{Init: "x.pth"}); !errors.As(err, &p) || p.Field != "init" {
		t.Errorf("weights from two files: %v", err)
	}
	if _, err := Start("mlp-bn", info, StartOptions{Options: Options{Arch: "mlp-bn"}}); !errors.As(err, &p) ||
		p.Field != "arch" {
		t.Errorf("an architecture of no file of weights: %v", err)
	}
	if m, err = Start(template, info, StartOptions{Classes: 4}); err != nil {
		t.Fatal(err)
	}
	if n := m.Graph.Main.Values[m.Graph.Main.Outputs[0].Value].Type.Shape[0]; n != 4 {
		t.Errorf("a head for %d classes, want 4", n)
	}
}

// An explicit bilinear filter is recorded, unlike an absent option.
func TestInterpolation(t *testing.T) {
	m, template, _ := files(t)
	m.Preprocess.Interpolation = string(images.Bicubic)
	if _, err := serialize.WriteModel(template, m); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]images.Filter{"": images.Bicubic, "bicubic": images.Bicubic, "bilinear": images.Bilinear} {
		got, err := Open(template, Options{Preprocess: Preprocess{Interpolation: name}})
		if err != nil || images.Filter(got.Preprocess.Interpolation) != want {
			t.Errorf("%q: %+v, %v; want %q", name, got, err, want)
		}
	}
}

// The weights of another program's file are stored in memory that a device of this machine
// can map.
func TestOpenReadOnlyShares(t *testing.T) {
	want, _, tensors := files(t)
	onnx := filepath.Join(t.TempDir(), "m.onnx")
	if _, err := formats.Export(onnx, want, formats.ExportOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{tensors, onnx} {
		v, err := OpenReadOnly(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		large := 0
		for name, x := range v.State {
			file, _ := tensor.MappedAt(x.Bytes)
			if len(x.Bytes) >= 64<<10 {
				large++
			}
			if shares := file != nil; runtime.GOOS == "linux" && shares != (len(x.Bytes) >= 64<<10) {
				t.Errorf("%s: %s has %d bytes, in memory that others can map: %v", path, name, len(x.Bytes), shares)
			}
		}
		if large == 0 {
			t.Errorf("%s: no tensor is large", path)
		}
		v.Close()
	}
}
