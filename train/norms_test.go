package train

import (
	"context"
	"crypto/sha256"
	"testing"

	"github.com/bnctl/bnctl/serialize"
)

// The batch norms are reported at the end of each epoch. From the second epoch on the report has
// their drift. The template is unchanged.
func TestNormsAreTold(t *testing.T) {
	sums := map[bool][32]byte{}
	for _, ask := range []bool{false, true} {
		b := newBench(t, 24)
		var told []Norms
		c := b.config(2)
		c.Norms = ask
		c.Events = func(e Event) {
			if n, ok := e.(Norms); ok {
				told = append(told, n)
			}
		}
		s, err := New(context.Background(), &b.recipe, b.model(), c)
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		if err := serialize.EncodeModel(h, m); err != nil {
			t.Fatal(err)
		}
		sums[ask] = [32]byte(h.Sum(nil))
		if !ask {
			if len(told) > 0 {
				t.Errorf("nobody asked for %v", told)
			}
			continue
		}
		if len(told) != 2 || told[1].Epoch != 2 || len(told[0].Layers) == 0 {
			t.Fatalf("told %+v, want 2 epochs", told)
		}
		first, second := told[0].Layers[0], told[1].Layers[0]
		if first.Drift != nil || second.Drift == nil || first.Gap == nil || second.Gap == nil ||
			second.Ratio == nil {
			t.Errorf("first %+v, then %+v", first, second)
		}
	}
	if sums[false] != sums[true] {
		t.Error("another template")
	}
}
