package bnctl

import (
	"errors"
	"testing"

	"github.com/bnctl/bnctl/problem"
)

// TestFilesOfARun checks the default paths of a run's files.
func TestFilesOfARun(t *testing.T) {
	for _, c := range [][3]string{{"", "a/m.bnm", "a/m.bnc"}, {"k.bnc", "m.bnm", "k.bnc"}, {"", "", ""}} {
		if got := checkpointPath(c[0], c[1]); got != c[2] {
			t.Errorf("the checkpoint %q of the template %q is %q, want %q", c[0], c[1], got, c[2])
		}
	}
	if got := (&TrainOptions{Resume: "auto", Output: "m.bnm"}).resumePath(); got != "m.bnc" {
		t.Errorf("auto resumes from %q", got)
	}
	for _, c := range [][3]string{{"m.onnx", "", "output"}, {"m", "", "output"}, {"m.bnm", "k.bnm", "checkpoint"}} {
		err := checkExtensions(c[0], c[1])
		if p := new(problem.Error); !errors.As(err, &p) || p.Field != c[2] || p.Value == "" {
			t.Errorf("the template %q with the checkpoint %q: %v, want a problem of %s", c[0], c[1], err, c[2])
		}
	}
	if err := checkExtensions("m.BNM", "k.bnc"); err != nil {
		t.Error(err)
	}
}
