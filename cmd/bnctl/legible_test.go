package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/bnctl/bnctl/formats"
	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
	"github.com/bnctl/bnctl/tensor"
)

// planted is text that must never be sent to a terminal.
const planted = "\x1b[2J\x1b]0;owned\a\nbnctl: all is well\u202e"

// Text from files is made legible wherever it is printed for a person.
func TestForeignTextIsLegible(t *testing.T) {
	dir := t.TempDir()
	m, err := models.Build("mlp-bn", models.Options{Classes: 2})
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	m.Labels = []string{"cat" + planted, "dog"}
	m.Recipe = []byte(`{"kernels":"` + "x" + `"}`)
	model := filepath.Join(dir, "m"+strings.ReplaceAll(planted, "/", "")+".bnm")
	if _, err := serialize.WriteModel(model, m); err != nil {
		t.Fatal(err)
	}
	weights := filepath.Join(dir, "w.safetensors")
	tensors := formats.Tensors(m)
	for i := range tensors {
		tensors[i].Name = strings.Replace(tensors[i].Name, "bn1", "bn1"+planted, 1)
	}
	if _, err := formats.Save(weights, tensors); err != nil {
		t.Fatal(err)
	}
	archive := zipped(t, dir)
	for _, line := range [][]string{
		{"inspect", model}, {"doctor", model}, {"predict", "--devices", "ref", model, "glyphs:2"},
		{"predict", "--devices", "ref", model, "glyphs:2", "--logits"}, {"models", "show", model},
		{"eval", "--devices", "ref", model, "--data", "glyphs:2"},
		{"predict", "--devices", "ref", model, archive}, {"data", "info", "folder:" + archive},
		{"inspect", weights}, {"doctor", weights}, {"strip", weights, "-o", dir + "/w.pth"},
		{"strip", weights, "-o", dir + "/w.bnm"}, {"export", model, "-o", dir + "/" + planted + ".onnx"},
		{"predict", model, "nowhere" + planted}, {"inspect", "nowhere" + planted}, {"pre" + planted},
		{"train", "--model", "none" + planted, "--data", "glyphs:9"}, {"devices", "info", planted},
		{"predict", model, "glyphs:1", "--format", planted}, {"plugin", "test", "nowhere" + planted},
	} {
		var stdout, stderr bytes.Buffer
		run(context.Background(), append([]string{"bnctl"}, line...), &stdout, &stderr)
		if stdout.Len()+stderr.Len() == 0 {
			t.Errorf("%q prints nothing", line)
		}
		for text := range strings.Lines(stdout.String() + stderr.String()) {
			i := strings.IndexFunc(strings.TrimSuffix(text, "\n"), unicode.IsControl)
			if i >= 0 || strings.Contains(text, "\u202e") || strings.HasPrefix(text, "bnctl: all is well") {
				t.Errorf("%q prints %q", line[:1], text)
			}
		}
	}
}

// zipped writes an archive with a text file that has the name of a picture.
func zipped(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(dir, "pictures.zip")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	w, err := z.Create("a" + strings.ReplaceAll(planted, "/", "") + "/b" + planted + ".png")
	if err == nil {
		_, err = w.Write(tensor.New(tensor.U8, 9).Bytes)
	}
	if err = errors.Join(err, z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}
