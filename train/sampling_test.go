package train

import (
	"context"
	"slices"
	"testing"
)

// Samples of classes with weight 0 are never trained on. The length of an epoch does not change.
func TestClassesThatWeighNothingAreNotSeen(t *testing.T) {
	b := newBench(t, 42)
	b.recipe.Sampling, b.recipe.Epochs = "1,0,0,0,0,0,0,0,0,0", 1
	c := b.config(1)
	c.Events = func(e Event) {
		if s, ok := e.(EpochDone); ok && s.Seen != 42 {
			t.Errorf("%d samples were seen, want 42", s.Seen)
		}
	}
	s, err := New(context.Background(), &b.recipe, b.model(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l, err := s.loader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 3 {
		batch, err := l.Next()
		if err != nil {
			t.Fatal(err)
		}
		if slices.Max(batch.Labels.I32()) > 0 {
			t.Errorf("labels %d, want 0 alone", batch.Labels.I32())
		}
	}
	if _, err := s.Run(t.Context()); err != nil {
		t.Error(err)
	}
}
