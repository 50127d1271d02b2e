package serialize

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The reader at the end of docs/format.md reads what we write.
func TestPythonReader(t *testing.T) {
	python := pythonWithMsgpack(t)
	doc, err := os.ReadFile("../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "```python\n")
	script, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("docs/format.md holds no reader")
	}
	folder := t.TempDir()
	model, checkpoint := filepath.Join(folder, "m.bnm"), filepath.Join(folder, "c.bnc")
	if _, err := WriteModel(model, tinyModel(t)); err != nil {
		t.Fatal(err)
	}
	if err := WriteCheckpoint(checkpoint, tinyCheckpoint(t)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{model, checkpoint} {
		got, err := exec.Command(python, "-c", script, path).CombinedOutput()
		if want := listing(t, path); err != nil || string(got) != want {
			t.Errorf("%s: the reader says (%v)\n%s\nwant\n%s", filepath.Base(path), err, got, want)
		}
	}
	damaged := read(t, model)
	damaged[len(damaged)-1] ^= 1
	if out, err := exec.Command(python, "-c", script, put(t, damaged)).CombinedOutput(); err == nil {
		t.Errorf("the reader takes a damaged file:\n%s", out)
	}
}

// pythonWithMsgpack returns an interpreter that has msgpack: python3 of the path, or else that
// of the system.
func pythonWithMsgpack(t *testing.T) string {
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import msgpack").Run() == nil {
			return python
		}
	}
	t.Skip("the reader of docs/format.md is not tested: no python3 with msgpack here (Debian: python3-msgpack)")
	return ""
}

// listing returns the output expected of the reader.
func listing(t *testing.T, path string) string {
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var s strings.Builder
	fmt.Fprintf(&s, "%s %s\n", f.Kind, f.header.Architecture)
	for _, n := range f.tensors {
		set := n.set
		if set == "" {
			set = "-"
		}
		shape := strings.ReplaceAll(fmt.Sprint(n.tensor.Shape), " ", ", ")
		fmt.Fprintf(&s, "%s %s %v %s %x\n", set, n.name, n.tensor.DType, shape, sha256.Sum256(n.tensor.Bytes))
	}
	return s.String()
}
