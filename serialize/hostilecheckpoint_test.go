package serialize

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// forgedCheckpoint writes the checkpoint of tinyCheckpoint with a changed header.
func forgedCheckpoint(t *testing.T, change func(*header)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.bnc")
	if err := WriteCheckpoint(path, tinyCheckpoint(t)); err != nil {
		t.Fatal(err)
	}
	good := read(t, path)
	_, h, _, err := readContainer(good)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := readStart(good)
	data := good[align(startSize+int64(len(body))):]
	change(h)
	if body, err = h.encode(); err != nil {
		t.Fatal(err)
	}
	return put(t, append(start(Training, first, body), data...))
}

// A checkpoint with valid checksums and invalid contents is refused, and the error names the fault.
func TestHostileCheckpoints(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(*header)
	}{
		{"broken graph", "graph:", func(h *header) { h.Graph = "bnctl graph 1\ngraph" }},
		{"broken recipe", "recipe is not JSON", func(h *header) { h.Recipe = "{" }},
		{"broken progress", "progress is not JSON", func(h *header) { h.Training.Progress = "{" }},
		{"a tensor that is not there", "tensor else is missing", func(h *header) {
			h.Training.State = append(h.Training.State, declared{"else", "optimizer"})
		}},
		{"a role of templates", "want optimizer or average", func(h *header) { h.Training.State[0].Role = "weight" }},
		{"sets that are not listed", "does not list", func(h *header) { h.Training.Sets = nil }},
		{"sets that are not sorted", "sorted", func(h *header) { slices.Reverse(h.Training.Sets) }},
		{"a set twice", "sorted", func(h *header) {
			h.Training.Sets = slices.Insert(h.Training.Sets, 1, h.Training.Sets[0])
		}},
		{"a tensor twice", "is there twice", func(h *header) { h.Tensors[5].Name = h.Tensors[6].Name }},
		{"a tensor of a set inside another", "tensor b of set best: begins at", func(h *header) {
			h.Tensors[6].Offset = 0
		}},
		{"a set without tensors", "is empty", func(h *header) {
			h.Training.Sets = append(h.Training.Sets, setHeader{Name: "zzz"})
		}},
	} {
		_, err := ReadCheckpoint(forgedCheckpoint(t, c.change))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	if c, err := ReadCheckpoint("nowhere"); err == nil {
		t.Errorf("read %v of no file", c)
	}
}
