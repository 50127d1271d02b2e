package modelfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// pictures describes pictures of a shape, or of several sizes.
func pictures(shape ...int) data.Info {
	return data.Info{Kind: "folder", Len: 4, DType: tensor.U8, Shape: shape, Labelled: true, Classes: []string{"a", "b"}}
}

// TestSizeOfFiles: a file without a fixed size accepts the requested size; a file with a
// fixed size refuses another.
func TestSizeOfFiles(t *testing.T) {
	dir := t.TempDir()
	m, err := models.Build("resnet20", models.Options{Classes: 2})
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	template, tensors := filepath.Join(dir, "m.bnm"), filepath.Join(dir, "m.safetensors")
	text := filepath.Join(dir, "m.graph")
	_, err1 := serialize.WriteModel(template, m)
	_, err2 := formats.Save(tensors, formats.Tensors(m))
	if err := errors.Join(err1, err2, os.WriteFile(text, m.Graph.Text(), 0o600)); err != nil {
		t.Fatal(err)
	}
	size := models.Size{Height: 48, Width: 40}
	unit := Preprocess{Name: "unit"}
	model := func(o *Opened, err error) (*models.Model, error) {
		if err != nil {
			return nil, err
		}
		return o.Model, nil
	}
	for name, open := range map[string]func() (*models.Model, error){
		"tensors": func() (*models.Model, error) {
			return model(Open(tensors, Options{Size: size, Preprocess: unit}))
		},
		"tensors of": func() (*models.Model, error) {
			return model(Open(tensors, Options{Size: size, Arch: "resnet20", Preprocess: unit}))
		},
		"tensors of a graph": func() (*models.Model, error) {
			return model(Open(tensors, Options{Size: size, Arch: text}))
		},
		"a graph": func() (*models.Model, error) {
			o, err := Start(text, pictures(), StartOptions{Options: Options{Size: size}})
			if err != nil {
				return nil, err
			}
			return o.Model, nil
		},
		"the zoo": func() (*models.Model, error) {
			return model(OpenOrBuild("resnet20", Options{Size: size}))
		},
	} {
		m, err := open()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, _ := m.Size(); got != (models.Size{Height: 48, Width: 40, Channels: 3}) || m.Check() != nil {
			t.Errorf("%s: %v, %v", name, got, m.Check())
		}
	}
	var p *problem.Error
	_, err = Open(template, Options{Size: size})
	if !errors.As(err, &p) || p.Field != "size" || !strings.Contains(p.Advice, "{init}") {
		t.Errorf("a template: %v", err)
	}
	if _, err = OpenReadOnly(template, Options{Size: size}); !errors.As(err, &p) || p.Field != "size" {
		t.Errorf("a template: %v", err)
	}
	if _, err = Open(template, Options{Size: models.Size{Height: 32, Width: 32}}); err != nil {
		t.Errorf("a template of that size: %v", err)
	}
	if _, err = OpenOrBuild("resnet20", Options{Size: size, Input: []int{3, 32, 32}}); !errors.As(err, &p) || p.Field != "size" {
		t.Errorf("two sizes: %v", err)
	}
}

// TestSizeOfDense: a graph with a dense layer over positions accepts only pictures of its
// size.
func TestSizeOfDense(t *testing.T) {
	m, err := models.Build("lenet-bn", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var p *problem.Error
	if _, err := models.WithSize(m, 32, 32); !errors.As(err, &p) || p.Field != "size" ||
		!strings.Contains(err.Error(), "made for 28x28, and cannot take 32x32") {
		t.Errorf("%v", err)
	}
	u, err := models.Build("unet-bn", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := models.Build("unet-bn", models.Options{Input: models.Size{Height: 32, Width: 96, Channels: 3}})
	if err != nil {
		t.Fatal(err)
	}
	if u, err = models.WithSize(u, 32, 96); err != nil || string(u.Graph.Text()) != string(want.Graph.Text()) {
		t.Errorf("a graph with factors is not that of the zoo: %v", err)
	}
	if same, err := models.WithSize(m, 28, 28); err != nil || same != m {
		t.Errorf("its own size: %v", err)
	}
}

// TestParseSize parses a height and a width, in this order.
func TestParseSize(t *testing.T) {
	if s, err := models.ParseSize("30x40"); err != nil || s != (models.Size{Height: 30, Width: 40}) {
		t.Errorf("%v, %v", s, err)
	}
	for _, text := range []string{"", "30", "30x", "x30", "30x40x3", "0x3", "-1x3", "30 x 40", "9000x3", "3.5x3", "axb"} {
		var p *problem.Error
		if s, err := models.ParseSize(text); !errors.As(err, &p) || p.Field != "size" {
			t.Errorf("%q is %v, %v", text, s, err)
		}
	}
}
