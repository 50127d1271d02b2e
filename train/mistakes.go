package train

import "slices"

// Mistake is the number N of labels for which another class was predicted.
type Mistake struct{ Label, Predicted, N int }

// Mistakes returns the wrong predictions by label and predicted class, the most
// frequent first.
func (e *Evaluation) Mistakes() (all []Mistake) {
	for i, row := range e.Confusion {
		for j, n := range row {
			if i != j && n > 0 {
				all = append(all, Mistake{i, j, n})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Mistake) int { return b.N - a.N })
	return all
}
