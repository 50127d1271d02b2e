package models_test

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
)

// torchNames is what testdata/torch_names.py printed.
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
		m, err := models.Build(name, models.Options{})
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		for _, s := range m.Graph.State {
			if !strings.HasPrefix(s.Name, of) {
				continue
			}
			fmt.Fprintf(h, "%s %s\n", s.Name, strings.ReplaceAll(fmt.Sprint(s.Shape), " ", ", "))
		}
		if got := fmt.Sprintf("%x", h.Sum(nil)); got != want {
			t.Errorf("%s: digest of names and shapes is %s, want %s", name, got, want)
		}
	}
}
