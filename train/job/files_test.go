package job

import (
	"errors"
	"testing"

	"github.com/bnctl/bnctl/problem"
)

// TestWord: what is printed as a command can be pasted into a shell.
func TestWord(t *testing.T) {
	for text, want := range map[string]string{"cifar.bnc": "cifar.bnc", "a b": "'a b'", "": "''",
		"it's": `'it'\''s'`, "cuda:0,2xcpu": "cuda:0,2xcpu", "$HOME": "'$HOME'"} {
		if got := Word(text); got != want {
			t.Errorf("Word(%q) = %s, want %s", text, got, want)
		}
	}
}

// TestFilesOfARun: where they go that nobody has named.
func TestFilesOfARun(t *testing.T) {
	for _, c := range [][3]string{{"", "a/m.bnm", "a/m.bnc"}, {"k.bnc", "m.bnm", "k.bnc"}, {"", "", ""}} {
		if got := CheckpointBeside(c[0], c[1]); got != c[2] {
			t.Errorf("the checkpoint %q beside %q is %q, want %q", c[0], c[1], got, c[2])
		}
	}
	if got := ResumedFrom("auto", "", "m.bnm"); got != "m.bnc" {
		t.Errorf("auto resumes from %q", got)
	}
	for _, c := range [][3]string{{"m.onnx", "", "output"}, {"m", "", "output"}, {"m.bnm", "k.bnm", "checkpoint"}} {
		err := endings(c[0], c[1])
		if p := new(problem.Error); !errors.As(err, &p) || p.Field != c[2] || p.Value == "" {
			t.Errorf("the template %q with the checkpoint %q: %v, want a problem of %s", c[0], c[1], err, c[2])
		}
	}
	if err := endings("m.BNM", "k.bnc"); err != nil {
		t.Error(err)
	}
}
