package train

import "slices"

// Mistake is how often a label was taken for another class.
type Mistake struct{ Label, Predicted, N int }

// Mistakes returns those that were made, the most frequent first, those of equal
// number by label and class.
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
