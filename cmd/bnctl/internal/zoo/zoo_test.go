package zoo

import (
	"slices"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
)

// The list fits into 80 columns, and every family has a heading.
func TestList(t *testing.T) {
	family, count := "", 0
	if n := len(Head()); n > 80 {
		t.Errorf("the head has %d columns", n)
	}
	for _, a := range models.Architectures() {
		d := models.Description{Name: a.Name, Family: a.Family, Input: a.Input.String(), Classes: a.Classes,
			Parameters: 138365992, Flops: 999999.9e6, LR: a.LR}
		for _, line := range Line(d, family) {
			if len(line) > 80 {
				t.Errorf("%d columns: %s", len(line), line)
			}
		}
		if families[a.Family] == "" {
			t.Errorf("family %s of %s has no heading", a.Family, a.Name)
		}
		if a.Family != family {
			count++
		}
		family = a.Family
	}
	if count != len(families) {
		t.Errorf("%d headings for %d families", count, len(families))
	}
}

func TestPaper(t *testing.T) {
	for _, a := range models.Architectures() {
		p, ok := a.Paper()
		if ok == (a.Family == "small" || a.Name == "unet-bn") {
			t.Errorf("%s has a recipe: %t", a.Name, ok)
		}
		if !ok {
			continue
		}
		for _, line := range Paper(models.Description{Paper: &p, NormEps: 1e-5}) {
			indented := strings.TrimLeft(line, " ")
			begins := slices.ContainsFunc([]string{"batch norm", "published with: ", "nearest flags"},
				func(s string) bool { return strings.HasPrefix(line, s) })
			if len(line) > 110 || !begins && len(line) != len(indented)+3 {
				t.Errorf("%s: %d columns: %s", a.Name, len(line), line)
			}
		}
	}
	p := models.Paper{Said: "SGD", Source: "here", Options: map[string]string{"decay-all": "true", "lr": "0.1@256",
		"augment": "crop:4 flip"}}
	got := strings.Join(Paper(models.Description{Paper: &p}), "\n")
	if want := "published with: SGD (here)\nnearest flags: --augment 'crop:4 flip' --decay-all --lr 0.1@256"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
