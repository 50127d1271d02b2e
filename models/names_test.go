package models_test

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
)

// torchNames is the output of testdata/torch_names.py.
//
//go:embed testdata/torch_names.txt
var torchNames string

func TestStateIsCalledAsInPyTorch(t *testing.T) {
	for line := range strings.Lines(torchNames) {
		name, want, _ := strings.Cut(strings.TrimSpace(line), " ")
		of := ""
		if name == "mobilenet_v3_large" {
			name, of = "lraspp-mobilenetv3-large", "backbone."
		}
		name, heads := strings.CutSuffix(name, "+heads")
		m, err := models.Build(name, models.Options{Auxiliary: heads})
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, s := range m.Graph.State {
			if !strings.HasPrefix(s.Name, of) {
				continue
			}
			lines = append(lines, fmt.Sprintf("%s %s\n", s.Name, strings.ReplaceAll(fmt.Sprint(s.Shape), " ", ", ")))
		}
		slices.Sort(lines)
		if got := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(lines, "")))); got != want {
			t.Errorf("%s: digest of names and shapes is %s, want %s", name, got, want)
		}
	}
}
