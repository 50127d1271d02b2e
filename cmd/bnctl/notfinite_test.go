package main

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/models"
	"github.com/bnctl/bnctl/serialize"
)

// If a logit is +Inf or NaN, no class is predicted. predict reports an error for the input, and eval counts
// it as wrong. Raw outputs have the numbers unchanged. A logit of -Inf is a probability of 0.
func TestNotFinite(t *testing.T) {
	for _, c := range []struct {
		v     float64
		flags string
		code  int
		out   string
		say   string
	}{
		{math.NaN(), "predict glyphs:2 --json", 1, `"top":null`, "output logits is not finite"},
		{math.Inf(1), "predict glyphs:2 --json", 1, `"top":null`, "2 of 2 inputs cannot be predicted"},
		{math.NaN(), "predict glyphs:2", 1, "", "glyph 1 of test: output logits is not finite"},
		{math.NaN(), "predict glyphs:2 --format csv", 1, "input,rank", "output logits is not finite"},
		{math.NaN(), "predict glyphs:2 --logits", 0, "NaN", "outputs of 2 inputs are not finite"},
		{math.Inf(-1), "predict glyphs:2 --json --top 10", 0, `"p":0}`, ""},
		{math.NaN(), "eval --data glyphs:20", 0, "20 samples counted as wrong: the outputs are not finite", ""},
		{math.NaN(), "eval --data glyphs:20 --json", 0, `"not_finite":20,`, ""},
		{math.Inf(1), "eval --data glyphs:20 --json", 0, `"not_finite":20,`, ""},
	} {
		m, err := models.Build("mlp-bn", models.Options{})
		if err == nil {
			err = models.Init(m, 1)
		}
		if err != nil {
			t.Fatal(err)
		}
		bias := m.Graph.State[len(m.Graph.State)-1].Name
		if n := len(m.State[bias].F32()); n != 10 {
			t.Fatalf("%s has %d elements", bias, n)
		}
		m.State[bias].F32()[3] = float32(c.v)
		path := t.TempDir() + "/m.bnm"
		if _, err := serialize.WriteModel(path, m); err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(c.flags)
		args := append([]string{"bnctl", words[0], path, "--devices", "ref"}, words[1:]...)
		var out, notes bytes.Buffer
		code := run(context.Background(), args, &out, &notes)
		if code != c.code || !strings.Contains(out.String(), c.out) || !strings.Contains(notes.String(), c.say) {
			t.Errorf("%s of a logit %v: exit code %d, want %d\n%s%s", c.flags, c.v, code, c.code, &out, &notes)
		}
		if c.code == 1 && strings.Contains(out.String(), "NaN") {
			t.Errorf("%s: %s", c.flags, &out)
		}
	}
}
