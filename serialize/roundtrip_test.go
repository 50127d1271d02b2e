package serialize

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/problem"
	"github.com/bnctl/bnctl/tensor"
)

func TestModelRoundTrip(t *testing.T) {
	zoo, err := models.Build("lenet-bn", models.Options{Classes: 5})
	if err == nil {
		err = models.Init(zoo, 7)
	}
	if err != nil {
		t.Fatal(err)
	}
	bare := tinyModel(t)
	bare.Labels, bare.Recipe, bare.Preprocess = nil, nil, models.Preprocess{}
	best := tinyModel(t)
	best.Best = &models.BestEpoch{Epoch: 3, Figure: "accuracy", Value: 0.25}
	typed := tinyModel(t)
	typed.FileTypes = []models.FileType{{Output: "y", DType: tensor.I64},
		{Output: "class", DType: tensor.I32, Picks: "y", Shape: []int{1}}}
	for name, m := range map[string]*models.Model{"tiny": tinyModel(t), "bare": bare, "lenet-bn": zoo,
		"best": best, "typed": typed} {
		path := filepath.Join(t.TempDir(), "m.bnm")
		sum, err := WriteModel(path, m)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(read(t, path))); got != sum {
			t.Errorf("%s: the file's sum is %s, WriteModel says %s", name, got, sum)
		}
		got, err := ReadModel(path)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, m) {
			t.Errorf("%s: read %+v, wrote %+v", name, got, m)
		}
	}
}

func TestSameModelIsTheSameBytes(t *testing.T) {
	a, b := tinyModel(t), tinyModel(t)
	a.Labels, b.Labels = nil, []string{}
	folder := t.TempDir()
	first, err := WriteModel(filepath.Join(folder, "a.bnm"), a)
	if err != nil {
		t.Fatal(err)
	}
	second, err := WriteModel(filepath.Join(folder, "another name.bnm"), b)
	if err != nil {
		t.Fatal(err)
	}
	if first != second {
		t.Errorf("sums %s and %s", first, second)
	}
}

// ReadModel returns tensors that the caller owns: the caller may change them, and they do
// not change with the file.
func TestReadModelOwnsItsTensors(t *testing.T) {
	m, err := ReadModel(put(t, fileOf(t)))
	if err != nil {
		t.Fatal(err)
	}
	m.State["bn1.weight"].F32()[0] = 9
}

func TestCheckpointRoundTrip(t *testing.T) {
	want := tinyCheckpoint(t)
	want.FileTypes = []models.FileType{{Output: "class", DType: tensor.I32, Picks: "y", Shape: []int{1}}}
	path := filepath.Join(t.TempDir(), "c.bnc")
	if err := WriteCheckpoint(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadCheckpoint(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Graph.Text()) != string(want.Graph.Text()) {
		t.Errorf("graph\n%s\nwant\n%s", got.Graph.Text(), want.Graph.Text())
	}
	got.Graph = want.Graph
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, wrote %+v", got, want)
	}
	m, err := Unwrap(got)
	if err != nil || !reflect.DeepEqual(m.FileTypes, want.FileTypes) {
		t.Errorf("the model has types %+v, error %v", m, err)
	}
	got.FileTypes[0].DType = tensor.F16
	if err := got.Check(); err == nil {
		t.Error("a type that no output of a file has is fine")
	}
	if s := got.Set("first"); s == nil || s.Updates[0] != 3 || got.Set("none") != nil {
		t.Errorf("Set: %+v", s)
	}
}

func TestTensorsAreAligned(t *testing.T) {
	f, err := Open(put(t, fileOf(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	at := int64(-1)
	for _, e := range f.header.Tensors {
		if e.Offset%64 != 0 || e.Offset <= at {
			t.Errorf("tensor %s at %d after %d", e.Name, e.Offset, at)
		}
		at = e.Offset
	}
}

func TestOneKindIsNotTheOther(t *testing.T) {
	folder := t.TempDir()
	model, checkpoint := filepath.Join(folder, "m.bnm"), filepath.Join(folder, "c.bnc")
	if _, err := WriteModel(model, tinyModel(t)); err != nil {
		t.Fatal(err)
	}
	if err := WriteCheckpoint(checkpoint, tinyCheckpoint(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadModel(checkpoint); err == nil || !strings.Contains(err.Error(), "of it with strip") {
		t.Errorf("reading a checkpoint as a template: %v", err)
	}
	if _, err := ReadCheckpoint(model); err == nil || !strings.Contains(err.Error(), "name it as the model") {
		t.Errorf("reading a template as a checkpoint: %v", err)
	}
}

func TestWriteRefusesWhatIsIncomplete(t *testing.T) {
	m := tinyModel(t)
	delete(m.State, "bn1.bias")
	path := filepath.Join(t.TempDir(), "m.bnm")
	if _, err := WriteModel(path, m); err == nil || !strings.Contains(err.Error(), "bn1.bias") {
		t.Errorf("a template without a tensor: %v", err)
	}
	m = tinyModel(t)
	m.Graph = wrapTiny(t, m.Graph, true)
	const connection = "node x.split (split) is a replica connection"
	if _, err := WriteModel(path, m); err == nil || !strings.Contains(err.Error(), connection) {
		t.Errorf("a template with replica connections: %v", err)
	}
	for name, damage := range map[string]func(*Checkpoint){
		"missing tensor":   func(c *Checkpoint) { delete(c.State, "bn1.weight.velocity") },
		"tensor too many":  func(c *Checkpoint) { c.State["more"] = tensor.Of([]float32{1}, 1) },
		"role of training": func(c *Checkpoint) { c.Training[0].Role = "weight" },
		"order of sets":    func(c *Checkpoint) { c.Sets[0], c.Sets[1] = c.Sets[1], c.Sets[0] },
		"empty set":        func(c *Checkpoint) { c.Sets[0].Tensors = nil },
	} {
		c := tinyCheckpoint(t)
		damage(c)
		if err := WriteCheckpoint(path, c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestInMemory checks that a file in memory equals the file on disk, and that the caller owns the
// tensors that it reads.
func TestInMemory(t *testing.T) {
	m := tinyModel(t)
	var file bytes.Buffer
	if err := EncodeModel(&file, m); err != nil || !bytes.Equal(file.Bytes(), fileOf(t)) {
		t.Fatalf("%d bytes, %v; want those of WriteModel", file.Len(), err)
	}
	got, err := ParseModel("it", file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range got.State {
		clear(x.Bytes)
	}
	if !bytes.Equal(file.Bytes(), fileOf(t)) {
		t.Error("the tensors share memory with the file")
	}
	_, err = ParseCheckpoint("it", file.Bytes())
	if err == nil || !strings.HasPrefix(err.Error(), "it is a template") {
		t.Errorf("a template as a checkpoint: %v", err)
	}
	m.Quantised = &models.Quantised{From: strings.Repeat("a", 64), By: "batch norm"}
	var int8 bytes.Buffer
	if err := EncodeModel(&int8, m); err != nil {
		t.Fatal(err)
	}
	_, err = ParseCheckpoint("it", int8.Bytes())
	var told *problem.Error
	if !errors.As(err, &told) || !strings.HasPrefix(err.Error(), "it is an int8 template") ||
		told.Advice != "train the float32 model that it was made of, sha256 "+m.Quantised.From+
			", and quantise the result" {
		t.Errorf("an int8 template as a checkpoint: %v; want the model that it was made of", err)
	}
	file.Bytes()[file.Len()-1] ^= 1
	if _, err := ParseModel("it", file.Bytes()); err == nil || !strings.HasPrefix(err.Error(), "it: ") {
		t.Errorf("damaged: %v", err)
	}
}

// The bytes of version 1 must not change: docs/promises.md promises them to the readers of
// other programs.
func TestBytesOfVersion1(t *testing.T) {
	m := tinyModel(t)
	sum, err := WriteModel(filepath.Join(t.TempDir(), "m.bnm"), m)
	if err != nil {
		t.Fatal(err)
	}
	if want := "ac318872080e447da596c7184b796885cb5a37fd2783bc5ba69be839ec4cf292"; sum != want {
		t.Errorf("the sum is %s, want %s", sum, want)
	}
}
