package train

import (
	"context"
	"strings"
	"testing"

	"github.com/bnctl/bnctl/data"
)

// classSource has the samples of testdata/classlosses.py, with classes that exclude each other.
type classSource struct{ elementSource }

func (s *classSource) Info() data.Info {
	i := s.elementSource.Info()
	i.LabelShape, i.MultiLabel = nil, false
	return i
}

func (s *classSource) Label(_ context.Context, i int) ([]int32, error) {
	if i == 4 {
		return []int32{-1}, nil
	}
	return []int32{int32((i*i + i) % 5 % 3)}, nil
}

// With weights of classes and with smoothing, losses and updates equal PyTorch's, over replicas of
// three and two rows on one device or several.
func TestClassLossesArePyTorchs(t *testing.T) {
	all := readSteps(t, "testdata/classlosses.txt")
	if len(all) != 7 {
		t.Errorf("%d cases, want 7", len(all))
	}
	for name, steps := range all {
		src := &classSource{elementSource{samples: 7}}
		b := elementBench(t, &src.elementSource, "binary")
		b.source, b.recipe.Loss = src, ""
		weights, _, _ := strings.Cut(name, "-")
		b.recipe.ClassWeights = map[string]string{"weighted": "0.25,3,1", "without": "0,3,1", "balanced": "balanced"}[weights]
		if strings.HasSuffix(name, "smoothed") {
			b.recipe.LabelSmoothing = 0.2
		}
		if b.recipe.ClassWeights == "balanced" {
			if err := b.recipe.SetData(t.Context(), src, nil); err != nil {
				t.Fatal(err)
			}
		}
		compareSteps(t, name, steps, b, elementModel(t, src))
	}
}
