package train

import "slices"

// Misclassification is the number N of labels for which another class was predicted.
type Misclassification struct{ Label, Predicted, N int }

// Misclassifications returns the wrong predictions by label and predicted class, the most
// frequent first.
func (e *Evaluation) Misclassifications() (all []Misclassification) {
	for i, row := range e.Confusion {
		for j, n := range row {
			if i != j && n > 0 {
				all = append(all, Misclassification{i, j, n})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Misclassification) int { return b.N - a.N })
	return all
}
