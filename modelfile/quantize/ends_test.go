package quantize

import (
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
)

// TestEndsOfDetectors: the nine last layers of YOLOX stay float32, and others do not.
func TestEndsOfDetectors(t *testing.T) {
	m, err := models.Build("yolox-nano", models.Options{Classes: 2,
		Input: models.Size{Height: 32, Width: 32, Channels: 3}})
	if err == nil {
		err = models.Init(m, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := prepare(m, []string{"head.stems.0.conv"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := build(p.Model, p.knownByNorms(), p.stays)
	if err != nil {
		t.Fatal(err)
	}
	float := 0
	for _, l := range b.layers {
		if l.Float {
			float++
			if !strings.Contains(l.Name, "_preds.") && l.Name != "head.stems.0.conv" {
				t.Errorf("%s is float32: %s", l.Name, l.Why)
			}
		}
	}
	if float != 10 {
		t.Errorf("%d layers are float32, want 10", float)
	}
}
