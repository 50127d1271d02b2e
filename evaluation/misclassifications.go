package evaluation

import "slices"

// Misclassification states that for N labels of one class another class was predicted.
type Misclassification struct {
	Label     int `json:"label"`
	Predicted int `json:"predicted"`
	N         int `json:"n"`
}

// Misclassifications returns the wrong predictions by label and predicted class, the most
// frequent first.
func (e *Evaluation) Misclassifications() (list []Misclassification) {
	for label := range e.Confusion.Classes() {
		for _, p := range e.Confusion.Row(label) {
			if p.Class != label {
				list = append(list, Misclassification{label, p.Class, p.N})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Misclassification) int { return b.N - a.N })
	return list
}
